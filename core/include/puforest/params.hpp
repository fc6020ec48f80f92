// The parameters of a fit, as a plain struct.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "puforest/types.hpp"

namespace puforest {

enum class Risk { uPU, nnPU, PN };
enum class Loss {
    Quadratic,
    Logistic,
    Savage,
    Sigmoid,
    ZeroOne,
    Ramp,
    Hinge,
    DoubleHinge,
    Exponential,
};
enum class Thresholds { Random, Optimal };

// Total mass of each group of rows at the root of every tree. The weights of the rows that a tree
// samples are scaled to these totals.
struct GroupMasses {
    double labeled_p = 0;    // W_p of the labeled rows
    double labeled_u = 0;    // W_u of the labeled rows (0 in the case-control scenario)
    double unlabeled_u = 0;  // W_u of the unlabeled rows that were not found positive
    double confirmed_p = 0;  // W_p of the unlabeled rows that were checked and found positive
    double confirmed_u = 0;  // W_u of these
};

// Row sampling of a tree. Each group is sampled separately unless `together` is set: then all
// rows are sampled together, with replacement. With folds, which exclude `together`, tree t samples
// rows whose fold is not t % n_folds; of a group with fewer rows, it draws as many as there are.
// Unlabeled rows that were found positive are a group of their own: they are few, and each tells
// more than another unlabeled row.
struct Sampling {
    bool replace = false;
    bool together = false;
    std::uint32_t labeled = 0;    // rows to draw; ignored when together
    std::uint32_t unlabeled = 0;  // rows to draw; ignored when together
    std::uint32_t n_folds = 0;    // 0: without folds
    std::uint32_t confirmed = 0;  // rows to draw; ignored when together
    // Trees t and t + n_samples draw the same rows; 0: every tree draws its own. A multiple of
    // n_folds, so that they also leave out the same fold.
    std::uint32_t n_samples = 0;
    // Seed of the samples, for forests that share them; otherwise, that of the forest.
    std::optional<std::uint64_t> seed = {};
};

struct TrainParams {
    Risk risk = Risk::nnPU;
    Loss loss = Loss::Quadratic;
    Thresholds thresholds = Thresholds::Random;
    std::uint32_t n_thresholds = 1;  // random thresholds for each drawn feature
    std::uint32_t max_features = 1;  // features drawn at a node, among non-constant ones
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t min_samples_split = 2;
    std::uint32_t min_samples_leaf = 1;
    std::uint32_t max_leaf_nodes = 0;  // 0: unlimited, depth-first; otherwise best-first
    double min_risk_reduction = -std::numeric_limits<double>::infinity();
    GroupMasses masses;
    Sampling sampling;
    std::uint64_t seed = 0;
    std::uint32_t first_tree = 0;  // trees [first_tree, first_tree + n_trees) of the forest
    std::uint32_t n_trees = 1;
    std::uint32_t n_threads = 1;
    std::vector<FeatureId> categorical_features;
    // Features in which the posterior must not decrease, and those in which it must not increase.
    std::vector<FeatureId> increasing_features;
    std::vector<FeatureId> decreasing_features;
};

}  // namespace puforest
