// Arrays between Python and the core, for the files that make up the Python module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "puforest/node_fields.hpp"
#include "puforest/parallel.hpp"
#include "puforest/tree.hpp"
#include "puforest/types.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace puforest {

template <class T>
using In = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Real>
using In2 = nb::ndarray<const Real, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;
using Progress = std::optional<nb::typed<nb::callable, void(std::size_t, std::size_t)>>;
using Arrays = nb::typed<nb::dict, nb::str, nb::any>;

template <class Real>
Matrix<Real> view(const In2<Real>& x) {
    return {x.data(), x.shape(0), x.shape(1), static_cast<std::ptrdiff_t>(x.stride(0)),
            static_cast<std::ptrdiff_t>(x.stride(1))};
}

template <class T>
std::span<const T> view(const In<T>& array) {
    return {array.data(), array.shape(0)};
}

// A sparse matrix by rows that keeps its arrays alive.
template <class Real>
class SparseRows {
public:
    // Throws std::invalid_argument unless the indices of each row ascend and are within bounds.
    SparseRows(In<Real> data, In<std::int32_t> indices, In<std::int64_t> indptr,
               std::size_t n_columns)
        : data_(std::move(data)),
          indices_(std::move(indices)),
          indptr_(std::move(indptr)),
          n_columns_(n_columns) {
        if (data_.shape(0) != indices_.shape(0) || indptr_.shape(0) == 0) {
            throw std::invalid_argument("the arrays of a sparse matrix do not match");
        }
        check_rows(view(), data_.shape(0));
    }

    SparseMatrix<Real> view() const {
        return {data_.data(), indices_.data(), indptr_.data(), indptr_.shape(0) - 1, n_columns_};
    }

private:
    static void check_rows(const SparseMatrix<Real>& x, std::size_t n_values) {
        bool valid = x.begin[0] == 0 && x.begin[x.rows] == static_cast<std::int64_t>(n_values);
        for (std::size_t i = 0; i < x.rows && valid; ++i) {
            valid = x.begin[i] <= x.begin[i + 1] &&
                    x.begin[i + 1] <= static_cast<std::int64_t>(n_values);
            std::int64_t last = -1;
            for (std::int64_t k = x.begin[i]; valid && k < x.begin[i + 1]; ++k) {
                valid = x.column[k] > last;
                last = x.column[k];
            }
            valid = valid && last < static_cast<std::int64_t>(x.cols);
        }
        if (!valid) throw std::invalid_argument("the indices of a sparse matrix are not canonical");
    }

    In<Real> data_;
    In<std::int32_t> indices_;
    In<std::int64_t> indptr_;
    std::size_t n_columns_;
};

template <class Real>
SparseMatrix<Real> view(const SparseRows<Real>& x) {
    return x.view();
}

// A NumPy array that owns its values.
template <class T>
Out<T> own(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = kept->data();
    const nb::capsule owner(kept.get(),
                            [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    kept.release();
    return Out<T>(data, shape, owner);
}

// Runs on the calling thread, which has released the GIL: reacquires it, raises on Ctrl-C and
// reports progress.
inline Poll polling(const Progress& progress) {
    return [&progress](std::size_t done, std::size_t total) {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress) (*progress)(done, total);
    };
}

// The arrays of a forest.
inline Arrays forest_arrays(const std::vector<Tree>& trees) {
    std::vector<std::int64_t> offset{0};
    for (const Tree& tree : trees) offset.push_back(offset.back() + tree.size());
    const auto n_nodes = static_cast<std::size_t>(offset.back());
    const std::size_t n_offsets = offset.size();
    std::vector<CategoryId> categories;
    for (const Tree& tree : trees) {
        categories.insert(categories.end(), tree.categories.begin(), tree.categories.end());
    }
    const std::size_t n_listed = categories.size();
    Arrays result;
    result["offset"] = own(std::move(offset), {n_offsets});
    result["categories"] = own(std::move(categories), {n_listed});
    for_each_node_field([&]<class T>(const NodeField<T>& field, auto get) {
        std::vector<T> all;
        all.reserve(n_nodes);
        for (const Tree& tree : trees) {
            all.insert(all.end(), get(tree).begin(), get(tree).end());
        }
        result[field.name] = own(std::move(all), {n_nodes});
    });
    return result;
}

// Growth level by level.
void bind_levels(nb::module_& m);

}  // namespace puforest
