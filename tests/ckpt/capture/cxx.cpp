// cxx.cpp - a C++ program that is saved while exceptions are in flight.
//
//   cxx IMAGE   writes the image three times: in a handler, in a destructor during unwinding, and
//               between both.  Each snapshot ends this life with status 10.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include "tests/ckpt/capture/host.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);           \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

namespace
{

std::string image;
std::map<std::string, std::vector<int>> table;
thread_local std::string local = "unset";
std::ofstream stream;

struct Shape {
    virtual ~Shape() = default;
    virtual int corners() const = 0;
};
struct Square : Shape {
    int corners() const override
    {
        return 4;
    }
};

// The end of this life, and the beginning of the next one.
void snapshot()
{
    if (host_snapshot(image.c_str()) == 0)
        _exit(10);
    image = host_handover();
}

struct Unwound {
    bool &seen;

    ~Unwound()
    {
        CHECK(std::uncaught_exceptions() == 1);
        snapshot();
        CHECK(std::uncaught_exceptions() == 1);
        seen = true;
    }
};

void fall(bool &seen)
{
    Unwound guard{seen};

    throw std::runtime_error("thrown before, caught after");
}

void in_a_handler()
{
    try {
        table.at("not there");
    } catch (const std::out_of_range &error) {
        std::string before = error.what();

        snapshot();
        CHECK(before == error.what());
        CHECK(std::current_exception() != nullptr);
        try {
            throw;
        } catch (const std::exception &again) {
            CHECK(before == again.what());
        }
    }
    CHECK(std::current_exception() == nullptr);
}

void in_a_destructor()
{
    bool seen = false;

    try {
        fall(seen);
        CHECK(false);
    } catch (const std::runtime_error &error) {
        CHECK(seen && std::string(error.what()) == "thrown before, caught after");
    }
}

void kept_for_later()
{
    std::exception_ptr kept;

    try {
        throw 42;
    } catch (...) {
        kept = std::current_exception();
    }
    snapshot();
    try {
        std::rethrow_exception(kept);
    } catch (int number) {
        CHECK(number == 42);
    }
}

} // namespace

int main(int argc, char **argv)
{
    std::mt19937 random(5), twin(5);
    std::unique_ptr<Shape> shape = std::make_unique<Square>();
    std::function<int(int)> closure;
    int captured = 30;

    CHECK(argc >= 2);
    image = argv[1];
    table["a"] = {1, 2, 3};
    local = "a string that is too long to lie in the object itself";
    stream.open("cxx stream");
    stream << "one" << std::endl << "two, not flushed";
    std::cout << std::hex << std::setfill('0') << std::setw(4) << 255 << ' ';
    closure = [captured](int more) { return captured + more; };
    random.discard(1000);
    twin.discard(1000);

    in_a_handler();
    in_a_destructor();
    kept_for_later();

    CHECK(random() == twin());
    CHECK(table["a"].size() == 3 && table["a"][2] == 3);
    CHECK(local.size() == 53);
    CHECK(closure(12) == 42 && shape->corners() == 4);
    CHECK(dynamic_cast<Square *>(shape.get()) != nullptr);
    stream << " three";
    stream.close();
    CHECK(stream.good());
    std::cout << 254 << std::endl;
    return 0;
}
