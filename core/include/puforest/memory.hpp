// Memory for large tables with random access.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace puforest {

struct FreeMemory {
    std::align_val_t alignment{};

    void operator()(std::byte* memory) const { ::operator delete(memory, alignment); }
};
using Memory = std::unique_ptr<std::byte[], FreeMemory>;

inline constexpr std::size_t kCacheLine = 64;

inline constexpr std::size_t round_up(std::size_t n, std::size_t unit) {
    return (n + unit - 1) / unit * unit;
}

// Uninitialized memory aligned to a cache line; from 2 MiB on, in pages of that size where
// available, because random reads of 4 KiB pages would miss the TLB.
inline Memory allocate(std::size_t bytes) {
    constexpr std::size_t kPage = std::size_t{2} << 20;
    const std::size_t unit = bytes >= kPage ? kPage : kCacheLine;
    const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), unit);
    const std::align_val_t alignment{unit};
    Memory memory(static_cast<std::byte*>(::operator new(size, alignment)), {alignment});
#ifdef __linux__
    // Only a hint: if it is ignored, everything still works.
    if (unit == kPage) static_cast<void>(madvise(memory.get(), size, MADV_HUGEPAGE));
#endif
    return memory;
}

// Hands out parts of large chunks of memory. Safe to call from several threads.
class Arena {
public:
    // Uninitialized memory, aligned to a cache line, that lives as long as the arena. Its last
    // cache line may be read to the end.
    std::byte* take(std::size_t bytes) {
        bytes = round_up(bytes, kCacheLine);
        const std::lock_guard lock(mutex_);
        if (bytes > left_) {
            // Both steps may throw while other threads use the arena: change nothing before.
            const std::size_t size = std::max(bytes, kChunk);
            chunks_.push_back(allocate(size));
            next_ = chunks_.back().get();
            left_ = size;
        }
        std::byte* const result = next_;
        next_ += bytes;
        left_ -= bytes;
        return result;
    }

private:
    static constexpr std::size_t kChunk = std::size_t{32} << 20;

    std::mutex mutex_;
    std::vector<Memory> chunks_;
    std::byte* next_ = nullptr;
    std::size_t left_ = 0;
};

}  // namespace puforest
