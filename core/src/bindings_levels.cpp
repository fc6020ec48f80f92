// Python bindings of growth level by level.
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "puforest/levels.hpp"
#include "puforest/parts.hpp"
#include "puforest/train.hpp"

namespace puforest {
namespace {

template <class T>
In<T> array_in(const Arrays& arrays, const char* name) {
    In<T> array;
    if (!arrays.contains(name) || !nb::try_cast(nb::object(arrays[name]), array, false)) {
        throw nb::type_error((std::string(name) + " is not a contiguous array").c_str());
    }
    return array;
}

using puforest::own;

template <class T>
Out<T> own(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return own(std::move(values), {n});
}

// Pairs as rows of two columns.
Out<std::uint32_t> own_pairs(std::vector<std::uint32_t>&& values) {
    const std::size_t n = values.size() / 2;
    return own(std::move(values), {n, 2});
}

std::span<const std::uint32_t> pairs_in(const Arrays& arrays, const char* name) {
    nb::ndarray<nb::numpy, const std::uint32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>
        array;
    if (!arrays.contains(name) || !nb::try_cast(nb::object(arrays[name]), array, false)) {
        throw nb::type_error((std::string(name) + " is not an array of pairs").c_str());
    }
    return {array.data(), 2 * array.shape(0)};  // `arrays` keeps it alive
}

template <class T>
std::span<const T> span_in(const Arrays& arrays, const char* name) {
    const In<T> array = array_in<T>(arrays, name);
    return {array.data(), array.shape(0)};  // `arrays` keeps it alive
}

Arrays request_of(const LevelGrowth& growth) {
    Request request = growth.request();
    Arrays arrays;
    arrays["tree"] = own(std::move(request.tree));
    arrays["node"] = own(std::move(request.node));
    arrays["range_begin"] = own(std::move(request.range_begin));
    arrays["range_feature"] = own(std::move(request.range_feature));
    arrays["count_begin"] = own(std::move(request.count_begin));
    arrays["count_feature"] = own(std::move(request.count_feature));
    arrays["count_threshold"] = own(std::move(request.count_threshold));
    return arrays;
}

void advance(LevelGrowth& growth, const Arrays& answer) {
    growth.advance({span_in<double>(answer, "low"), span_in<double>(answer, "high"),
                    pairs_in(answer, "missing"), pairs_in(answer, "left"),
                    span_in<std::uint32_t>(answer, "bin_range"),
                    span_in<double>(answer, "bin_value"), pairs_in(answer, "bin_rows")});
}

Arrays handed_over(const LevelGrowth& growth) {
    std::vector<std::uint32_t> tree, depth, n_labeled, n_unlabeled, feature_begin{0}, feature;
    std::vector<NodeId> node;
    std::vector<std::uint64_t> key;
    std::vector<double> low, high;
    for (const auto& [of_tree, id, subtree] : growth.handed_over()) {
        tree.push_back(of_tree);
        node.push_back(id);
        key.push_back(subtree.key);
        depth.push_back(subtree.depth);
        low.push_back(subtree.bounds.low);
        high.push_back(subtree.bounds.high);
        n_labeled.push_back(subtree.total.labeled);
        n_unlabeled.push_back(subtree.total.unlabeled);
        feature.insert(feature.end(), subtree.features.begin(), subtree.features.end());
        feature_begin.push_back(static_cast<std::uint32_t>(feature.size()));
    }
    Arrays arrays;
    arrays["tree"] = own(std::move(tree));
    arrays["node"] = own(std::move(node));
    arrays["key"] = own(std::move(key));
    arrays["depth"] = own(std::move(depth));
    arrays["low"] = own(std::move(low));
    arrays["high"] = own(std::move(high));
    arrays["n_labeled"] = own(std::move(n_labeled));
    arrays["n_unlabeled"] = own(std::move(n_unlabeled));
    arrays["feature_begin"] = own(std::move(feature_begin));
    arrays["feature"] = own(std::move(feature));
    return arrays;
}

std::vector<Subtree> subtrees_in(const Arrays& arrays) {
    const auto key = span_in<std::uint64_t>(arrays, "key");
    const auto depth = span_in<std::uint32_t>(arrays, "depth");
    const auto low = span_in<double>(arrays, "low");
    const auto high = span_in<double>(arrays, "high");
    const auto n_labeled = span_in<std::uint32_t>(arrays, "n_labeled");
    const auto n_unlabeled = span_in<std::uint32_t>(arrays, "n_unlabeled");
    const auto begin = span_in<std::uint32_t>(arrays, "feature_begin");
    const auto feature = span_in<FeatureId>(arrays, "feature");
    const std::size_t n = key.size();
    if (depth.size() != n || low.size() != n || high.size() != n || n_labeled.size() != n ||
        n_unlabeled.size() != n || begin.size() != n + 1 || begin[n] > feature.size() ||
        !std::ranges::is_sorted(begin)) {
        throw std::invalid_argument("the arrays of subtrees do not match");
    }
    std::vector<Subtree> subtrees;
    for (std::size_t i = 0; i < n; ++i) {
        const auto features = feature.subspan(begin[i], begin[i + 1] - begin[i]);
        subtrees.push_back({key[i],
                            depth[i],
                            {low[i], high[i]},
                            {n_labeled[i], n_unlabeled[i]},
                            {features.begin(), features.end()}});
    }
    return subtrees;
}

template <class X>
Arrays scan(const X& x, const In<std::uint8_t>& labeled, const In2<std::int32_t>& leaves,
            const Arrays& request, const TrainParams& params) {
    const auto table = view(x);
    const PartRequest part{span_in<std::int64_t>(request, "offset"),
                           span_in<std::int32_t>(request, "node_at"),
                           span_in<std::uint32_t>(request, "range_begin"),
                           span_in<FeatureId>(request, "range_feature"),
                           span_in<std::uint32_t>(request, "count_begin"),
                           span_in<FeatureId>(request, "count_feature"),
                           span_in<double>(request, "count_threshold"),
                           counted_by_value(params, table.cols)};
    const auto scanned = [&] {
        const nb::gil_scoped_release release;
        return scan_part(table, view(labeled), std::span(leaves.data(), leaves.size()), part);
    };
    Answer<VectorOf> answer = scanned();
    Arrays arrays;
    arrays["low"] = own(std::move(answer.low));
    arrays["high"] = own(std::move(answer.high));
    arrays["missing"] = own_pairs(std::move(answer.missing));
    arrays["left"] = own_pairs(std::move(answer.left));
    arrays["bin_range"] = own(std::move(answer.bin_range));
    arrays["bin_value"] = own(std::move(answer.bin_value));
    arrays["bin_rows"] = own_pairs(std::move(answer.bin_rows));
    return arrays;
}

template <class X>
Arrays grow_subtrees(const X& x, const In<Row>& order, const Arrays& subtrees,
                     const MassFactors& factors, const TrainParams& params) {
    const std::vector<Subtree> list = subtrees_in(subtrees);
    FitRows rows{view(order), 0};
    for (const Subtree& subtree : list) rows.n_labeled += subtree.total.labeled;
    if (rows.n_labeled > rows.size()) {
        throw std::invalid_argument("subtrees have more rows than there are");
    }
    const auto grown = [&] {
        const Progress none;
        const Poll poll = polling(none);
        const nb::gil_scoped_release release;
        return train_subtrees(view(x), rows, list, factors, params, poll);
    };
    return forest_arrays(grown());
}

template <class X>
void bind_parts(nb::module_& m) {
    m.def("scan_part", &scan<X>, "x"_a.noconvert(), "labeled"_a, "leaves"_a, "request"_a,
          "params"_a, "Answer a request of LevelGrowth for one part of the rows.");
    m.def("train_subtrees", &grow_subtrees<X>, "x"_a.noconvert(), "order"_a, "subtrees"_a,
          "factors"_a, "params"_a,
          "Grow subtrees: `order` has the labeled rows of each, then the unlabeled rows of each.");
}

}  // namespace

void bind_levels(nb::module_& m) {
    nb::class_<MassFactors>(m, "MassFactors")
        .def(nb::init<double, double, double>(), "p"_a, "l"_a, "u"_a)
        .def_ro("p", &MassFactors::p)
        .def_ro("l", &MassFactors::l)
        .def_ro("u", &MassFactors::u);
    nb::class_<LevelGrowth>(m, "LevelGrowth",
                            "Growth of a forest from statistics of rows that are elsewhere.")
        .def(
            "__init__",
            [](LevelGrowth* self, const TrainParams& params, std::size_t n_features,
               std::uint32_t n_labeled, std::uint32_t n_unlabeled, std::uint32_t hand_over) {
                new (self) LevelGrowth(params, n_features, {n_labeled, n_unlabeled}, hand_over);
            },
            "params"_a, "n_features"_a, "n_labeled"_a, "n_unlabeled"_a, "hand_over"_a)
        .def_prop_ro("n_open", &LevelGrowth::n_open, "Number of open nodes.")
        .def("request", &request_of, "Statistics that the open nodes need.")
        .def("advance", &advance, "answer"_a, "Continue with the answer to the request.")
        .def(
            "trees", [](const LevelGrowth& self) { return forest_arrays(self.trees()); },
            "Arrays of the trees so far, with nodes in order of creation.")
        .def("handed_over", &handed_over, "Nodes whose subtrees are grown elsewhere.")
        .def_prop_ro("factors", &LevelGrowth::factors);
    bind_parts<In2<float>>(m);
    bind_parts<In2<double>>(m);
    bind_parts<SparseRows<float>>(m);
    bind_parts<SparseRows<double>>(m);
}

}  // namespace puforest
