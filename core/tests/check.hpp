// A minimal test framework: TEST registers, CHECK records, run_all reports.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace puforest::testing {

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& all_tests() {
    static std::vector<Test> tests;
    return tests;
}

inline bool add_test(const char* name, void (*run)()) {
    all_tests().push_back({name, run});
    return true;
}

// Number of failed checks of the current test.
inline std::size_t& failures() {
    static std::size_t count = 0;
    return count;
}

// Only the thread that runs the tests may use CHECK.
inline void check(bool holds, const char* what, const char* file, int line) {
    constexpr std::size_t kMostShown = 5;
    if (holds) return;
    if (++failures() <= kMostShown) std::printf("%s:%d: %s\n", file, line, what);
}

template <class Exception, class Call>
bool throws(Call&& call) {
    try {
        call();
    } catch (const Exception&) {
        return true;
    } catch (...) {
        return false;
    }
    return false;
}

// Run the tests whose name contains `wanted` and return the exit code of the program.
inline int run_all(const std::string& wanted) {
    std::size_t passed = 0;
    std::size_t failed = 0;
    for (const Test& test : all_tests()) {
        if (std::string(test.name).find(wanted) == std::string::npos) continue;
        failures() = 0;
        try {
            test.run();
        } catch (const std::exception& e) {
            check(false, e.what(), test.name, 0);
        } catch (...) {
            check(false, "an unknown exception", test.name, 0);
        }
        if (failures() > 0) std::printf("FAILED %s (%zu checks)\n", test.name, failures());
        ++(failures() > 0 ? failed : passed);
    }
    std::printf("%zu passed, %zu failed\n", passed, failed);
    return failed > 0 || passed == 0;
}

}  // namespace puforest::testing

#define TEST(name)                                                                              \
    static void name();                                                                         \
    [[maybe_unused]] static const bool name##_added = puforest::testing::add_test(#name, name); \
    static void name()

#define CHECK(...) \
    puforest::testing::check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CHECK_THROWS(exception, ...)                                                     \
    puforest::testing::check(puforest::testing::throws<exception>([&] { __VA_ARGS__; }), \
                             "no " #exception " from " #__VA_ARGS__, __FILE__, __LINE__)
