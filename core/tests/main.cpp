#include "check.hpp"

// With an argument, run only the tests whose name contains it.
int main(int argc, char** argv) { return puforest::testing::run_all(argc > 1 ? argv[1] : ""); }
