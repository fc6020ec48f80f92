// Sets of categories, to look up whether a node lists the category of a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "puforest/types.hpp"

namespace puforest {

// A set is a table of bits from its first to its last category, unless that would take more than
// four times the memory of the list of its categories; then it is that list, of less than 1024
// categories because a table has at most 4096 words. Each set has three words more.
class CategorySets {
public:
    using SetId = std::uint32_t;

    // Add a set, given as a list in strictly ascending order that is not empty.
    SetId add(std::span<const CategoryId> list) {
        const std::size_t id = words_.size();
        if (id > std::numeric_limits<SetId>::max()) {
            throw std::invalid_argument("the model lists too many categories");
        }
        const CategoryId first = list.front();
        const std::size_t n_words = std::size_t{list.back()} / kBits - first / kBits + 1;
        const bool is_table = n_words <= 4 * list.size();
        words_.insert(words_.end(),
                      {first, list.back(), static_cast<CategoryId>(is_table ? 0 : list.size())});
        if (is_table) {
            words_.resize(words_.size() + n_words);
            CategoryId* const table = words_.data() + id + kHeader;
            for (const CategoryId category : list) {
                const std::size_t word = category / kBits - first / kBits;
                table[word] = static_cast<CategoryId>(table[word] | 1u << category % kBits);
            }
        } else {
            words_.insert(words_.end(), list.begin(), list.end());
        }
        return static_cast<SetId>(id);
    }

    // Whether x is the number of a category in the set: not if it is NaN, negative or fractional.
    template <class Real>
    bool contains(SetId id, Real x) const {
        const CategoryId* const set = words_.data() + id;
        const CategoryId first = set[0];
        const CategoryId last = set[1];
        const std::size_t n_listed = set[2];
        if (!(x >= first && x <= last)) return false;
        const auto category = static_cast<CategoryId>(x);
        if (category != x) return false;
        const CategoryId* const words = set + kHeader;
        if (n_listed > 0) return std::binary_search(words, words + n_listed, category);
        return words[category / kBits - first / kBits] >> category % kBits & 1;
    }

    std::size_t bytes() const { return words_.size() * sizeof(CategoryId); }

private:
    static constexpr std::size_t kBits = 16;   // of a word
    static constexpr std::size_t kHeader = 3;  // first, last, number listed (0: table of bits)

    std::vector<CategoryId> words_;
};

}  // namespace puforest
