// The Python module: arrays in, arrays out. Only the bindings and arrays.hpp depend on Python.
#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "arrays.hpp"
#include "puforest/kernels.hpp"
#include "puforest/predict.hpp"
#include "puforest/row_hashes.hpp"
#include "puforest/sampling.hpp"
#include "puforest/train.hpp"

namespace puforest {
namespace {

using NodeArrays = NodeFields<In>;
using puforest::view;

// Training rows of X in order: labeled rows, unlabeled rows found positive, others; their weights
// and folds by position in that order. If some rows were checked, all have a positive weight.
struct TrainingRows {
    In<Row> order;
    std::uint32_t n_labeled;
    std::optional<In<double>> positive;
    std::optional<In<double>> sample;
    std::optional<In<std::uint8_t>> fold;
    std::uint32_t n_confirmed;
    std::optional<In<std::uint64_t>> ids;
    double complete;

    RowWeights weights() const {
        const bool checked = positive && positive->shape(0) == order.shape(0);
        if (n_confirmed > 0 && !checked) {
            throw std::invalid_argument("checked rows require weights");
        }
        if (!sample) return {};
        if (!positive || !(checked || positive->shape(0) == n_labeled) ||
            sample->shape(0) != order.shape(0)) {
            throw std::invalid_argument("weights must have one value per row");
        }
        return {positive->data(), sample->data(), checked};
    }
};

FitRows view(const TrainingRows& rows) {
    FitRows result{view(rows.order), rows.n_labeled, {}, rows.n_confirmed};
    if (rows.fold) result.fold = view(*rows.fold);
    if (rows.ids) result.ids = view(*rows.ids);
    result.complete = rows.complete;
    return result;
}

// Codes of training rows, shared by the forests that are trained on them.
struct Codes {
    Columns columns;
    In<Row> order;

    std::size_t n_features() const { return columns.column.size(); }
};

const Columns& view(const Codes& codes) { return codes.columns; }

template <class T>
std::string dtype_name() {
    const char* const kind = std::is_floating_point_v<T> ? "float"
                             : std::is_signed_v<T>       ? "int"
                                                         : "uint";
    return kind + std::to_string(8 * sizeof(T));
}

// A row of the table of node fields.
struct FieldDescription {
    std::string name;
    std::string dtype;
    std::optional<double> in_leaves;
    std::string meaning;
};

std::vector<FieldDescription> node_fields() {
    std::vector<FieldDescription> fields;
    for_each_node_field([&]<class T>(const NodeField<T>& field, auto) {
        fields.push_back({field.name, dtype_name<T>(), field.in_leaves, field.meaning});
    });
    return fields;
}

NodeArrays node_arrays(const Arrays& arrays) {
    NodeArrays nodes;
    for_each_node_field([&]<class T>(const NodeField<T>& field, auto get) {
        const nb::object array =
            arrays.contains(field.name) ? nb::object(arrays[field.name]) : nb::none();
        if (!nb::try_cast(array, get(nodes), false)) {
            throw nb::type_error(
                (std::string(field.name) + " is not a contiguous array of " + dtype_name<T>())
                    .c_str());
        }
    });
    return nodes;
}

template <class Table>
Codes encode_rows(const Table& x, const TrainingRows& rows,
                  const std::vector<FeatureId>& categorical_features, unsigned n_threads,
                  const Progress& progress) {
    const Poll poll = polling(progress);
    const Poll poll_before_end = [&](std::size_t, std::size_t) { poll(0, 1); };
    const auto columns = [&] {
        const nb::gil_scoped_release release;
        return encode(view(x), view(rows), categorical_features, n_threads, poll_before_end);
    };
    return {columns(), rows.order};
}

template <class Table>
Arrays train_forest(const Table& x, const TrainingRows& rows, const TrainParams& params,
                    const Progress& progress) {
    std::vector<Tree> trees;
    {
        const RowWeights weights = rows.weights();
        const Poll poll = polling(progress);
        const nb::gil_scoped_release release;
        trees = train(view(x), view(rows), weights, params, poll);
    }
    return forest_arrays(trees);
}

Arrays train_on_codes(const Codes& codes, const TrainingRows& rows, const TrainParams& params,
                      const Progress& progress) {
    if (!std::ranges::equal(view(rows.order), view(codes.order))) {
        throw std::invalid_argument("the rows are not those that were encoded");
    }
    return train_forest(codes, rows, params, progress);
}

template <class X>
Out<std::uint64_t> hash_rows(const X& x) {
    const std::size_t n_rows = view(x).rows;
    const auto hashes = [&] {
        const nb::gil_scoped_release release;
        return row_hashes(view(x));
    };
    return own(hashes(), {n_rows});
}

Out<Row> sampled_positions(const TrainingRows& rows, const TrainParams& params, std::size_t tree) {
    check_sampling(view(rows), params.sampling);
    std::vector<Row> drawn = draw_sample(params, tree, view(rows)).rows;
    const std::size_t n_drawn = drawn.size();
    return own(std::move(drawn), {n_drawn});
}

Out<std::uint8_t> sampled_ids(std::uint64_t first_id, std::size_t n_ids,
                              const std::vector<SampledFraction>& samples, unsigned n_threads) {
    std::vector<std::uint8_t> marks(n_ids);
    {
        const Progress none;
        const Poll poll = polling(none);
        const nb::gil_scoped_release release;
        mark_sampled(first_id, samples, marks, n_threads, poll);
    }
    return own(std::move(marks), {n_ids});
}

// Check the width of X and call fill(X, poll) without the GIL.
template <class Real, class X, class Fill>
void predict(const Predictor<Real>& self, const X& x, Fill&& fill) {
    const auto matrix = view(x);
    if (matrix.cols != self.n_features()) {
        throw std::invalid_argument("X has " + std::to_string(matrix.cols) + " features, but " +
                                    std::to_string(self.n_features()) + " were expected");
    }
    const Progress none;
    const Poll poll = polling(none);
    const nb::gil_scoped_release release;
    fill(AnyMatrix<Real>(matrix), poll);
}

template <class Real, class X>
Out<double> predict_mean(const Predictor<Real>& self, const X& x, unsigned n_threads) {
    const std::size_t n_rows = view(x).rows;
    std::vector<double> mean(n_rows);
    predict(self, x, [&](const AnyMatrix<Real>& matrix, const Poll& poll) {
        self.mean(matrix, mean.data(), n_threads, poll);
    });
    return own(std::move(mean), {n_rows});
}

template <class Real, class X>
Out<std::int32_t> predict_leaves(const Predictor<Real>& self, const X& x, unsigned n_threads) {
    const std::size_t n_rows = view(x).rows;
    std::vector<std::int32_t> leaves(n_rows * self.n_trees());
    predict(self, x, [&](const AnyMatrix<Real>& matrix, const Poll& poll) {
        self.leaves(matrix, leaves.data(), n_threads, poll);
    });
    return own(std::move(leaves), {n_rows, self.n_trees()});
}

template <class Real, class X>
Out<double> predict_held_out(const Predictor<Real>& self, const X& x, const TrainingRows& rows,
                             const TrainParams& params) {
    const std::size_t n_rows = view(x).rows;
    std::vector<double> mean(n_rows, std::numeric_limits<double>::quiet_NaN());
    predict(self, x, [&](const AnyMatrix<Real>& matrix, const Poll& poll) {
        self.mean_held_out(matrix, view(rows), params, mean.data(), poll);
    });
    return own(std::move(mean), {n_rows});
}

template <class Real, class X>
Out<double> predict_mean_at(const Predictor<Real>& self, const X& x, const In<FeatureId>& varied,
                            const In2<Real>& points, unsigned n_threads) {
    const std::size_t n_rows = view(x).rows;
    const std::size_t n_points = points.shape(0);
    std::vector<double> mean(n_rows * n_points);
    predict(self, x, [&](const AnyMatrix<Real>& matrix, const Poll& poll) {
        self.mean_at(matrix, view(varied), view(points), mean.data(), n_threads, poll);
    });
    return own(std::move(mean), {n_rows, n_points});
}

// Training on matrices of type X, and their duplicate rows.
template <class X>
void bind_training(nb::module_& m) {
    m.def("train", &train_forest<X>, "x"_a.noconvert(), "rows"_a, "params"_a,
          "progress"_a = nb::none(),
          "Grow trees on the given rows of x and return the arrays of the forest.");
    m.def("encode", &encode_rows<X>, "x"_a.noconvert(), "rows"_a, "categorical_features"_a,
          "n_threads"_a, "progress"_a = nb::none(),
          "Encode the given rows of x, to train several forests on them.");
    m.def("row_hashes", &hash_rows<X>, "x"_a.noconvert(),
          "Hash the rows of x; rows of equal values have the same hash.");
}

// Predictions for matrices of type X.
template <class X, class Real>
void bind_predictions(nb::class_<Predictor<Real>>& predictor) {
    predictor
        .def("mean", &predict_mean<Real, X>, "x"_a.noconvert(), "n_threads"_a,
             "Mean leaf value over the trees, for each row.")
        .def("leaves", &predict_leaves<Real, X>, "x"_a.noconvert(), "n_threads"_a,
             "Index of the leaf that each row reaches in each tree.")
        .def(
            "mean_at", &predict_mean_at<Real, X>, "x"_a.noconvert(), "varied"_a, "points"_a,
            "n_threads"_a,
            "Mean leaf value over the trees, for each row and each point, a row of values that the "
            "features `varied` are set to.")
        .def("mean_held_out", &predict_held_out<Real, X>, "x"_a.noconvert(), "rows"_a, "params"_a,
             "Mean leaf value over the trees that did not train on a row or on its fold, or NaN.");
}

template <class Real>
void bind_for(nb::module_& m, const char* sparse_name, const char* predictor_name) {
    nb::class_<SparseRows<Real>>(m, sparse_name, "Sparse matrix by rows (CSR, sorted indices).")
        .def(nb::init<In<Real>, In<std::int32_t>, In<std::int64_t>, std::size_t>(), "data"_a,
             "indices"_a, "indptr"_a, "n_columns"_a);
    bind_training<In2<Real>>(m);
    bind_training<SparseRows<Real>>(m);
    nb::class_<Predictor<Real>> predictor(m, predictor_name);
    predictor.def(
        "__init__",
        [](Predictor<Real>* self, const In<std::int64_t>& offset, const In<CategoryId>& categories,
           const NodeArrays& nodes, const In<double>& value, std::uint32_t n_features) {
            ForestArrays forest{{}, view(offset), view(categories), view(value)};
            for_each_node_field([&](const auto&, auto get) { get(forest) = view(get(nodes)); });
            new (self) Predictor<Real>(forest, n_features);
        },
        "offset"_a, "categories"_a, "nodes"_a, "value"_a, "n_features"_a);
    bind_predictions<In2<Real>>(predictor);
    bind_predictions<SparseRows<Real>>(predictor);
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Compiled core of puforest.";
    // Models that are alive when the interpreter exits are not leaks.
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
        .def(nb::init<double, double, double, double, double>(), "labeled_p"_a, "labeled_u"_a,
             "unlabeled_u"_a, "confirmed_p"_a = 0.0, "confirmed_u"_a = 0.0);
    nb::class_<Sampling>(m, "Sampling")
        .def(nb::init<bool, bool, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                      std::uint32_t, std::optional<std::uint64_t>>(),
             "replace"_a, "together"_a, "labeled"_a, "unlabeled"_a, "n_folds"_a = 0,
             "confirmed"_a = 0, "n_samples"_a = 0, "seed"_a = nb::none());
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
        .def_rw("n_threads", &TrainParams::n_threads)
        .def_rw("categorical_features", &TrainParams::categorical_features)
        .def_rw("increasing_features", &TrainParams::increasing_features)
        .def_rw("decreasing_features", &TrainParams::decreasing_features);
    nb::class_<TrainingRows>(m, "TrainingRows")
        .def(nb::init<In<Row>, std::uint32_t, std::optional<In<double>>, std::optional<In<double>>,
                      std::optional<In<std::uint8_t>>, std::uint32_t,
                      std::optional<In<std::uint64_t>>, double>(),
             "order"_a, "n_labeled"_a, "positive"_a = nb::none(), "sample"_a = nb::none(),
             "fold"_a.noconvert() = nb::none(), "n_confirmed"_a = 0,
             "ids"_a.noconvert() = nb::none(), "complete"_a = 1.0);

    m.def("draw_sample", &sampled_positions, "rows"_a, "params"_a, "tree"_a,
          "Positions of the rows that a tree is grown on, in ascending order.");
    nb::exception<IncompleteSample>(m, "IncompleteSample", PyExc_RuntimeError);
    nb::class_<SampledFraction>(m, "SampledFraction")
        .def(nb::init<std::uint64_t, std::uint32_t, double>(), "seed"_a, "number"_a, "fraction"_a);
    m.def("mark_sampled", &sampled_ids, "first_id"_a, "n_ids"_a, "samples"_a, "n_threads"_a,
          "Mark the consecutive ids that are in any of the samples with 1, others with 0.");

    nb::class_<Codes>(m, "Codes", "Codes of the training rows of a matrix.")
        .def_prop_ro("n_features", &Codes::n_features);
    m.def("train", &train_on_codes, "codes"_a, "rows"_a, "params"_a, "progress"_a = nb::none(),
          "Grow trees on the same rows as were encoded; their categorical features are known.");

    bind_levels(m);

    m.attr("LEAF") = kLeaf;
    nb::class_<FieldDescription>(m, "NodeField")
        .def_ro("name", &FieldDescription::name)
        .def_ro("dtype", &FieldDescription::dtype)
        .def_ro("in_leaves", &FieldDescription::in_leaves,
                "Value in leaves; None if the value at a node is the sum of its children's.")
        .def_ro("meaning", &FieldDescription::meaning);
    m.def("node_fields", &node_fields, "Table of the node fields.");
    nb::class_<NodeArrays> nodes(m, "NodeArrays", "Node fields, as arrays over all nodes.");
    nodes.def(
        "__init__",
        [](NodeArrays* self, const Arrays& arrays) { new (self) NodeArrays(node_arrays(arrays)); },
        "arrays"_a);
    for_each_node_field([&](const auto& field, auto get) {
        nodes.def_prop_ro(
            field.name, [get](const NodeArrays& self) { return get(self); }, field.meaning);
    });

    bind_for<float>(m, "SparseMatrix32", "Predictor32");
    bind_for<double>(m, "SparseMatrix64", "Predictor64");
    m.def(
        "instruction_set", [] { return kernels().instruction_set; },
        "Instruction set that fits use on this machine.");
}

}  // namespace puforest
