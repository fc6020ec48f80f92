// Trees on tables: missing values, categories and sparse matrices.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "helpers.hpp"
#include "puforest/kernels.hpp"
#include "puforest/train.hpp"
#include "tree_checks.hpp"

namespace puforest::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Call use(params) for all risks and both searches.
template <class Use>
void for_each_search(const TrainParams& base, const Use& use) {
    for (const Risk risk : {Risk::uPU, Risk::nnPU, Risk::PN}) {
        for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
            TrainParams params = base;
            params.risk = risk;
            params.thresholds = mode;
            params.masses =
                risk == Risk::PN ? GroupMasses{0.4, 0.4, 0.6} : GroupMasses{0.4, 0.1, 1};
            use(params);
        }
    }
}

TEST(train_trees_of_tables_are_valid) {
    const Table few = random_table(1, {40, 80, 8, 5});
    const Table many = random_table(2, {60, 300, 8, 0});
    for (const Table* table : {&few, &many}) {
        const Weights weights = random_weights(*table, 3);
        TrainParams base = table_params(*table);
        base.n_trees = 2;
        base.n_thresholds = 2;
        base.max_features = 3;
        for_each_search(base, [&](TrainParams params) {
            for (const Loss loss : {Loss::Quadratic, Loss::Logistic}) {
                params.loss = loss;
                for (const Sampling& sampling :
                     {all_rows(*table), Sampling{false, false, 11, 35}, Sampling{true, true}}) {
                    params.sampling = sampling;
                    check_trees(*table, params, nullptr);
                    check_trees(*table, params, &weights);
                }
            }
        });
    }
}

// As many categories as two-byte codes can number beside the missing values; nodes of all sizes.
TEST(train_tables_with_codes_of_every_width) {
    Table table{random_data(20, {20'000, 60'000, 3, 0}), {0, 1}};
    Rng rng(21);
    for (std::size_t k = 0; k < table.x.size(); ++k) {
        if (k % 3 == 0) table.x[k] = std::round(table.x[k] * 200);
        if (k % 3 == 1) table.x[k] = std::round(table.x[k] * 65'534);
        if (rng.below(10) == 0) table.x[k] = kNaN;
    }
    const Weights weights = random_weights(table, 22);
    TrainParams params = table_params(table);
    params.max_features = 1;
    params.max_depth = 4;
    params.n_trees = 1;
    check_trees(table, params, nullptr);
    params.thresholds = Thresholds::Optimal;
    check_trees(table, params, &weights);
}

TEST(train_best_first_on_tables_is_a_subtree_of_the_full_tree) {
    const Table table = random_table(9, {80, 200, 8, 0});
    for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
        TrainParams params = table_params(table);
        params.thresholds = mode;
        const Tree full = fit(table, params)[0];
        CHECK(!full.categories.empty());
        for (const std::uint32_t n_leaves : {1u, 2u, 3u, 5u, 9u}) {
            params.max_leaf_nodes = n_leaves;
            const Tree tree = fit(table, params)[0];
            CHECK(leaf_count(tree) == n_leaves);
            CHECK(splits_by_path(tree) == greedy(full, n_leaves));
        }
        params.max_leaf_nodes = 1'000'000;
        const Tree all = fit(table, params)[0];
        check_structure(all, params);
        CHECK(splits_by_path(all) == splits_by_path(full));
    }
}

// Threads, instruction sets, the type of X, its storage and the order of its rows.
TEST(train_on_tables_depends_on_the_values_only) {
    Table table = random_table(11, {150, 600, 13, 0});
    for (std::size_t k = 0; k < table.x.size(); ++k) {
        // Floats hold these, and a third of them are 0.
        if (k % 13 % 2 == 0) table.x[k] = std::floor(table.x[k] * 300) / 256;
        if (k % 3 == 0) table.x[k] = 0;
    }
    const Weights weights = random_weights(table, 12);
    const Data<float> floats = as_floats(table);
    const Sparse<double> sparse(table.matrix());
    const Sparse<float> sparse_floats(floats.matrix());
    for_each_search(table_params(table), [&](TrainParams params) {
        params.max_features = 4;
        const auto expected = fit(table, params);
        const auto weighted = fit(table, params, weights.view());
        CHECK(!same(expected, weighted));
        CHECK(same(fit(floats, params), expected));
        CHECK(same(fit(floats, params, weights.view()), weighted));
        const auto fit_sparse = [&](const auto& x, const RowWeights& w) {
            return train(x.matrix(), table.fit_rows(), w, params, Poll{});
        };
        CHECK(same(fit_sparse(sparse, {}), expected));
        CHECK(same(fit_sparse(sparse, weights.view()), weighted));
        CHECK(same(fit_sparse(sparse_floats, {}), expected));
        const char* const before = std::getenv("PUFOREST_SIMD");
        const std::string kept = before == nullptr ? "" : before;
        for (const Kernels* const some : available_kernels()) {
            setenv("PUFOREST_SIMD", some->instruction_set, 1);
            CHECK(same(fit(table, params), expected));
        }
        setenv("PUFOREST_SIMD", kept.c_str(), 1);
        params.n_threads = 3;
        CHECK(same(fit(table, params), expected));
        CHECK(same(fit_sparse(sparse, weights.view()), weighted));
        Data<> shuffled = table;
        Rng rng(13);
        shuffle(std::span(shuffled.order).first(table.n_labeled), rng);
        shuffle(std::span(shuffled.order).subspan(table.n_labeled), rng);
        CHECK(same(fit(shuffled, params), expected));
    });
}

TEST(train_on_shared_codes_grows_the_same_trees) {
    Table table = random_table(14, {60, 200, 8, 0});
    table.fold = random_folds(table.order.size(), 3);
    const Weights weights = random_weights(table, 15);
    const Sparse<double> sparse(table.matrix());
    const FitRows rows = table.fit_rows();
    const Columns dense_codes = encode(table.matrix(), rows, table.categorical, 1, Poll{});
    const Columns sparse_codes = encode(sparse.matrix(), rows, table.categorical, 2, Poll{});
    for_each_search(table_params(table), [&](TrainParams params) {
        for (const Sampling& sampling :
             {all_rows(table), Sampling{true, true}, Sampling{false, false, 20, 100, 3}}) {
            params.sampling = sampling;
            const auto expected = fit(table, params);
            const auto weighted = fit(table, params, weights.view());
            for (const Columns* columns : {&dense_codes, &sparse_codes}) {
                CHECK(same(train(*columns, rows, {}, params, Poll{}), expected));
                CHECK(same(train(*columns, rows, weights.view(), params, Poll{}), weighted));
            }
        }
    });
    const TrainParams params = table_params(table);
    const auto order = std::span(table.order);
    CHECK_THROWS(std::invalid_argument,
                 train(dense_codes, {order.first(259), 60}, {}, params, Poll{}));
    CHECK_THROWS(std::invalid_argument, train(dense_codes, {order, 59}, {}, params, Poll{}));
    CHECK_THROWS(std::invalid_argument, train(dense_codes, {{}, 0}, {}, params, Poll{}));
    TrainParams too_many = params;
    too_many.sampling.labeled = 61;
    CHECK_THROWS(std::invalid_argument, train(dense_codes, rows, {}, too_many, Poll{}));
}

TEST(encode_rejects_rows_outside_x) {
    const Data<> data = random_data(16);
    const auto outside = static_cast<Row>(data.rows());
    for (const std::vector<Row>& order : {std::vector<Row>{}, {0, outside}}) {
        CHECK_THROWS(std::invalid_argument, encode(data.matrix(), {order, 1}, {}, 1, Poll{}));
    }
    const Matrix<double> no_columns{data.x.data(), data.rows(), 0, 0, 1};
    CHECK_THROWS(std::invalid_argument, encode(no_columns, data.fit_rows(), {}, 1, Poll{}));
}

TEST(train_unit_weights_on_tables_equal_counts) {
    const Table table = random_table(15, {60, 200, 8, 0});
    for_each_search(table_params(table), [&](TrainParams params) {
        CHECK(same(fit(table, params, unit_weights(table).view()), fit(table, params)));
        params.sampling = {true, false, 40, 80};
        CHECK(same(fit(table, params, unit_weights(table).view()), fit(table, params)));
    });
}

// Whether missing values are informative, and whether categories are rare, depends on the number of
// rows. Therefore a single value of each column is missing, and nnPU is left out.
TEST(train_a_weight_of_two_equals_a_duplicate_row_of_a_table) {
    Table table = random_table(16, {40, 80, 6, 0});
    for (std::size_t k = 0; k < table.x.size(); ++k) {
        if (std::isnan(table.x[k])) table.x[k] = table.x[k % table.cols];
        if (std::isnan(table.x[k])) table.x[k] = 1;
    }
    for (std::size_t j = 0; j < table.cols; ++j) {
        table.x[table.order[17 * j] * table.cols + j] = kNaN;
    }
    Data<> twice{table.x, table.cols, {}, 0};
    Weights weights = unit_weights(table);
    for (std::uint32_t i = 0; i < table.order.size(); ++i) {
        const bool doubled = i % 3 == 0;
        twice.order.insert(twice.order.end(), doubled ? 2 : 1, table.order[i]);
        if (i < table.n_labeled) twice.n_labeled = static_cast<std::uint32_t>(twice.order.size());
        if (i < table.n_labeled && doubled) weights.positive[i] = 2;
        if (doubled) weights.sample[i] = 2;
    }
    for_each_search(table_params(table), [&](TrainParams params) {
        if (params.risk == Risk::nnPU) return;
        const auto weighted = fit(table, params, weights.view());
        CHECK(!same(weighted, fit(table, params)));
        params.sampling = all_rows(twice);
        const auto repeated = fit(twice, params);
        for (std::size_t t = 0; t < weighted.size(); ++t) {
            CHECK(splits_by_path(weighted[t]) == splits_by_path(repeated[t]));
            CHECK(weighted[t].w_p == repeated[t].w_p && weighted[t].w_u == repeated[t].w_u);
        }
    });
}

// The numbers of the categories matter only by their order; nothing depends on those in between.
TEST(train_absent_categories_do_not_matter) {
    const Table table = random_table(18, {60, 200, 8, 10});
    Table spread = table;
    for (std::size_t k = 0; k < spread.x.size(); ++k) {
        if (k % table.cols % 2 == 1) spread.x[k] = spread.x[k] * 1000 + 34;
    }
    const auto fit_optimal = [](const Table& some, const Weights* weights) {
        TrainParams params = table_params(some);
        params.thresholds = Thresholds::Optimal;
        params.max_features = 8;
        return fit(some, params, weights ? weights->view() : RowWeights{});
    };
    const Weights weights = random_weights(table, 19);
    for (const Weights* some : {static_cast<const Weights*>(nullptr), &weights}) {
        auto expected = fit_optimal(table, some);
        std::size_t n_listed = 0;
        for (Tree& tree : expected) {
            for (CategoryId& c : tree.categories) c = static_cast<CategoryId>(c * 1000 + 34);
            n_listed += tree.categories.size();
        }
        CHECK(same(fit_optimal(spread, some), expected));
        CHECK(n_listed > 20);
    }
}

// A column of 10 labeled and 30 unlabeled rows; value(i) is that of row i.
template <class Value>
Tree fit_one_column(const TrainParams& base, Value&& value) {
    Data<> data = random_data(1, {10, 30, 1, 0});
    for (std::size_t i = 0; i < data.order.size(); ++i) data.x[data.order[i]] = value(i);
    TrainParams params = base;
    params.n_trees = 1;
    params.max_features = 1;
    params.masses = {0.4, 0.4, 0.6};
    params.risk = Risk::PN;
    params.sampling = all_rows(data);
    check_trees(data, params, nullptr);
    return fit(data, params)[0];
}

TEST(train_missing_values_against_the_rest) {
    for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
        TrainParams params;
        params.thresholds = mode;
        // The only two kinds of values.
        const auto one_value = [](std::size_t i) { return i < 25 ? 3 : kNaN; };
        const Tree number = fit_one_column(params, one_value);
        CHECK(number.size() == 3 && number.threshold[0] == kInfinity);
        CHECK(number.missing_left[0] == 0 && number.n_labeled[1] == 10);
        CHECK(number.n_unlabeled[1] == 15 && number.n_unlabeled[2] == 15);
        params.categorical_features = {0};
        const Tree category = fit_one_column(params, one_value);
        CHECK(category.size() == 3 && category.missing_left[0] == 0);
        CHECK(category.categories == std::vector<CategoryId>{3});
        CHECK(category.n_unlabeled[1] == 15 && category.n_unlabeled[2] == 15);
        // Exactly the labeled rows have no value.
        const auto only_labeled = [](std::size_t i) {
            return i < 10 ? kNaN : static_cast<double>(i);
        };
        const Tree all = fit_one_column(params, only_labeled);
        CHECK(all.size() == 3 && all.n_categories[0] == 30 && all.missing_left[0] == 0);
        params.categorical_features = {};
        const Tree numbers = fit_one_column(params, only_labeled);
        CHECK(numbers.size() == 3 && numbers.threshold[0] == kInfinity);
        CHECK(numbers.n_labeled[2] == 10 && numbers.n_unlabeled[2] == 0);
    }
}

TEST(train_missing_values_join_the_side_of_their_class) {
    for (const bool high : {false, true}) {
        TrainParams params;
        params.thresholds = Thresholds::Optimal;
        // Half of the labeled rows have the value 5, the others none.
        const auto value = [&](std::size_t i) {
            if (i < 10) return i < 5 ? 5.0 : kNaN;
            return high ? 1.0 : 9.0;
        };
        const Tree number = fit_one_column(params, value);
        CHECK(number.size() == 3 && number.threshold[0] == (high ? 3 : 7));
        CHECK(number.missing_left[0] == !high);
        params.categorical_features = {0};
        const Tree category = fit_one_column(params, value);
        // Categories ascend by their posteriors: that of the labeled rows goes right.
        CHECK(category.size() == 3 && category.missing_left[0] == 0);
        CHECK(category.categories == std::vector<CategoryId>{high ? CategoryId{1} : CategoryId{9}});
        CHECK(category.n_labeled[2] == 10 && category.n_unlabeled[2] == 0);
    }
}

// A column without any value is as good as none.
TEST(train_without_values) {
    for (const Thresholds mode : {Thresholds::Random, Thresholds::Optimal}) {
        Data<> data = random_data(1, {10, 30, 2, 0});
        for (std::size_t k = 0; k < data.x.size(); k += 2) data.x[k] = kNaN;
        TrainParams some = default_params(data);
        some.thresholds = mode;
        for (const bool categorical : {false, true}) {
            if (categorical) some.categorical_features = {0};
            for (const Tree& tree : check_trees(data, some, nullptr)) {
                CHECK(std::count(tree.feature.begin(), tree.feature.end(), 0) == 0);
            }
        }
        for (double& x : data.x) x = kNaN;
        CHECK(fit(data, some)[0].size() == 1);
    }
}

TEST(train_refuses_features_that_do_not_exist) {
    const Data<> data = random_data(18);
    const auto refuses = [&](auto TrainParams::* features) {
        TrainParams params = default_params(data);
        (params.*features) = {static_cast<FeatureId>(data.cols)};
        CHECK_THROWS(std::out_of_range, fit(data, params));
    };
    refuses(&TrainParams::categorical_features);
    refuses(&TrainParams::increasing_features);
    refuses(&TrainParams::decreasing_features);
}

}  // namespace
}  // namespace puforest::testing
