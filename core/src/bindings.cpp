// The Python module: arrays in, arrays out. The only file that knows Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "puforest/kernels.hpp"
#include "puforest/predict.hpp"
#include "puforest/train.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace puforest {
namespace {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
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

// An array that owns what it shows.
template <class T>
Out<T> own(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = kept->data();
    const nb::capsule owner(kept.get(),
                            [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    kept.release();
    return Out<T>(data, shape, owner);
}

// Runs on the calling thread, which has released the GIL: takes it, lets Ctrl-C raise, and
// reports progress.
Poll polling(const Progress& progress) {
    return [&progress](std::size_t done, std::size_t total) {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress) (*progress)(done, total);
    };
}

// Which rows, in which order, and their weights by position in that order.
struct TrainingRows {
    In<Row> order;
    std::uint32_t n_labeled;
    std::optional<In<double>> positive;
    std::optional<In<double>> sample;

    RowWeights weights() const {
        if (!sample) return {};
        if (!positive || positive->shape(0) != n_labeled || sample->shape(0) != order.shape(0)) {
            throw std::invalid_argument("weights must match the rows they belong to");
        }
        return {positive->data(), sample->data()};
    }
};

// One array for all trees out of one vector a tree.
template <class T>
Out<T> concatenate(const std::vector<Tree>& trees, std::vector<T> Tree::* field) {
    std::size_t n = 0;
    for (const Tree& tree : trees) n += (tree.*field).size();
    std::vector<T> all;
    all.reserve(n);
    for (const Tree& tree : trees) {
        all.insert(all.end(), (tree.*field).begin(), (tree.*field).end());
    }
    return own(std::move(all), {n});
}

template <class Real>
Arrays train_forest(const In2<Real>& x, const TrainingRows& rows, const TrainParams& params,
                    const Progress& progress) {
    std::vector<Tree> trees;
    {
        const RowWeights weights = rows.weights();
        const Poll poll = polling(progress);
        const nb::gil_scoped_release release;
        trees = train(view(x), view(rows.order), rows.n_labeled, weights, params, poll);
    }
    std::vector<std::int64_t> offset{0};
    for (const Tree& tree : trees) offset.push_back(offset.back() + tree.size());
    const std::size_t n_offsets = offset.size();
    Arrays result;
    result["offset"] = own(std::move(offset), {n_offsets});
    result["feature"] = concatenate(trees, &Tree::feature);
    result["threshold"] = concatenate(trees, &Tree::threshold);
    result["left"] = concatenate(trees, &Tree::left);
    result["w_p"] = concatenate(trees, &Tree::w_p);
    result["w_u"] = concatenate(trees, &Tree::w_u);
    result["n_labeled"] = concatenate(trees, &Tree::n_labeled);
    result["n_unlabeled"] = concatenate(trees, &Tree::n_unlabeled);
    return result;
}

// Fill `answers` by `fill(data, poll)`, without the GIL, for an X of the right width.
template <class T, class Real, class Fill>
void answer(const Predictor<Real>& self, const In2<Real>& x, std::vector<T>& answers, Fill&& fill) {
    if (x.shape(1) != self.n_features()) {
        throw std::invalid_argument("X has " + std::to_string(x.shape(1)) + " features, but " +
                                    std::to_string(self.n_features()) + " were expected");
    }
    const Progress none;
    const Poll poll = polling(none);
    const nb::gil_scoped_release release;
    fill(answers.data(), poll);
}

template <class Real>
Out<double> predict_mean(const Predictor<Real>& self, const In2<Real>& x, unsigned n_threads) {
    std::vector<double> mean(x.shape(0));
    answer(self, x, mean,
           [&](double* out, const Poll& poll) { self.mean(view(x), out, n_threads, poll); });
    return own(std::move(mean), {x.shape(0)});
}

template <class Real>
Out<std::int32_t> predict_leaves(const Predictor<Real>& self, const In2<Real>& x,
                                 unsigned n_threads) {
    std::vector<std::int32_t> leaves(x.shape(0) * self.n_trees());
    answer(self, x, leaves, [&](std::int32_t* out, const Poll& poll) {
        self.leaves(view(x), out, n_threads, poll);
    });
    return own(std::move(leaves), {x.shape(0), self.n_trees()});
}

template <class Real>
Out<double> predict_held_out(const Predictor<Real>& self, const In2<Real>& x,
                             const TrainingRows& rows, const TrainParams& params) {
    std::vector<double> mean(x.shape(0), std::numeric_limits<double>::quiet_NaN());
    answer(self, x, mean, [&](double* out, const Poll& poll) {
        self.mean_held_out(view(x), view(rows.order), rows.n_labeled, params, out, poll);
    });
    return own(std::move(mean), {x.shape(0)});
}

template <class Real>
void bind_for(nb::module_& m, const char* predictor_name) {
    m.def("train", &train_forest<Real>, "x"_a.noconvert(), "rows"_a, "params"_a,
          "progress"_a = nb::none(),
          "Grow trees on the given rows of x; returns the arrays of the model.");
    nb::class_<Predictor<Real>>(m, predictor_name)
        .def(
            "__init__",
            [](Predictor<Real>* self, const In<std::int64_t>& offset,
               const In<std::int32_t>& feature, const In<double>& threshold, const In<NodeId>& left,
               const In<double>& value, std::uint32_t n_features) {
                new (self) Predictor<Real>(
                    {view(offset), view(feature), view(threshold), view(left), view(value)},
                    n_features);
            },
            "offset"_a, "feature"_a, "threshold"_a, "left"_a, "value"_a, "n_features"_a)
        .def("mean", &predict_mean<Real>, "x"_a.noconvert(), "n_threads"_a,
             "Mean answer of the trees for each row.")
        .def("leaves", &predict_leaves<Real>, "x"_a.noconvert(), "n_threads"_a,
             "Index of the leaf of each tree that each row falls into.")
        .def("mean_held_out", &predict_held_out<Real>, "x"_a.noconvert(), "rows"_a, "params"_a,
             "Mean answer for each training row of the trees that did not see it, or nan.");
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Compiled core of puforest.";
    // A model that is still alive when the interpreter ends is no leak to warn of.
    nb::set_leak_warnings(false);

    nb::enum_<Risk>(m, "Risk")
        .value("upu", Risk::uPU)
        .value("nnpu", Risk::nnPU)
        .value("pn", Risk::PN);
    nb::enum_<Loss>(m, "Loss")
        .value("quadratic", Loss::Quadratic)
        .value("logistic", Loss::Logistic)
        .value("savage", Loss::Savage)
        .value("sigmoid", Loss::Sigmoid)
        .value("zero_one", Loss::ZeroOne)
        .value("ramp", Loss::Ramp)
        .value("hinge", Loss::Hinge)
        .value("double_hinge", Loss::DoubleHinge)
        .value("exponential", Loss::Exponential);
    nb::enum_<Thresholds>(m, "Thresholds")
        .value("random", Thresholds::Random)
        .value("optimal", Thresholds::Optimal);

    nb::class_<GroupMasses>(m, "GroupMasses")
        .def(nb::init<double, double, double>(), "labeled_p"_a, "labeled_u"_a, "unlabeled_u"_a);
    nb::class_<Sampling>(m, "Sampling")
        .def(nb::init<bool, bool, std::uint32_t, std::uint32_t>(), "replace"_a, "together"_a,
             "labeled"_a, "unlabeled"_a);
    nb::class_<TrainParams>(m, "TrainParams")
        .def(nb::init<>())
        .def_rw("risk", &TrainParams::risk)
        .def_rw("loss", &TrainParams::loss)
        .def_rw("thresholds", &TrainParams::thresholds)
        .def_rw("n_thresholds", &TrainParams::n_thresholds)
        .def_rw("max_features", &TrainParams::max_features)
        .def_rw("max_depth", &TrainParams::max_depth)
        .def_rw("min_samples_split", &TrainParams::min_samples_split)
        .def_rw("min_samples_leaf", &TrainParams::min_samples_leaf)
        .def_rw("max_leaf_nodes", &TrainParams::max_leaf_nodes)
        .def_rw("min_risk_reduction", &TrainParams::min_risk_reduction)
        .def_rw("masses", &TrainParams::masses)
        .def_rw("sampling", &TrainParams::sampling)
        .def_rw("seed", &TrainParams::seed)
        .def_rw("first_tree", &TrainParams::first_tree)
        .def_rw("n_trees", &TrainParams::n_trees)
        .def_rw("n_threads", &TrainParams::n_threads);
    nb::class_<TrainingRows>(m, "TrainingRows")
        .def(nb::init<In<Row>, std::uint32_t, std::optional<In<double>>,
                      std::optional<In<double>>>(),
             "order"_a, "n_labeled"_a, "positive"_a = nb::none(), "sample"_a = nb::none());

    bind_for<float>(m, "Predictor32");
    bind_for<double>(m, "Predictor64");
    m.def(
        "instruction_set", [] { return kernels().instruction_set; },
        "Name of the instruction set that fits use here.");
}

}  // namespace puforest
