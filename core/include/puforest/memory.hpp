// Memory for large tables that are read here and there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace puforest {

// Hands out parts of large chunks of memory, which lie in pages of 2 MiB where the system has
// them: reads all over a table then find its few pages in the processor's table of pages, which
// holds too few of the usual 4 KiB. Safe to call from several threads.
class Arena {
public:
    // Uninitialised memory, aligned to a cache line, for as long as the arena lives.
    std::byte* take(std::size_t bytes) {
        bytes = (bytes + kLine - 1) / kLine * kLine;
        const std::lock_guard lock(mutex_);
        if (bytes > left_) add_chunk(bytes);
        std::byte* const result = next_;
        next_ += bytes;
        left_ -= bytes;
        return result;
    }

private:
    static constexpr std::size_t kLine = 64;
    static constexpr std::size_t kPage = std::size_t{2} << 20;
    static constexpr std::size_t kChunk = std::size_t{32} << 20;

    void add_chunk(std::size_t bytes) {
        const std::size_t size = (std::max(bytes, kChunk) + kPage - 1) / kPage * kPage;
        chunks_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(kPage, size)));
        if (!chunks_.back()) throw std::bad_alloc();
        next_ = chunks_.back().get();
        left_ = size;
#ifdef __linux__
        // Only a wish: where it is not granted, all works the same.
        static_cast<void>(madvise(next_, size, MADV_HUGEPAGE));
#endif
    }

    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };

    std::mutex mutex_;
    std::vector<std::unique_ptr<std::byte, Free>> chunks_;
    std::byte* next_ = nullptr;
    std::size_t left_ = 0;
};

}  // namespace puforest
