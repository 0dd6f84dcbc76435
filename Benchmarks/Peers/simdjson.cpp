// The same work as "frame to tape, template", by simdjson's on-demand parser: every trade of a recording, with numbers
// as doubles and the symbol compared with the one before. Prints ns per trade.
#include <simdjson.h>

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

struct Trade {
    double price, size;
    int64_t time;
    uint16_t symbol;
};

static simdjson::ondemand::parser parser;
static std::vector<std::string> symbols;
static std::vector<Trade> trades;

static uint16_t intern(std::string_view name) {
    for (size_t index = 0; index < symbols.size(); index++)
        if (symbols[index] == name) return uint16_t(index);
    symbols.emplace_back(name);
    return uint16_t(symbols.size() - 1);
}

static void parse(const simdjson::padded_string &frame) {
    auto document = parser.iterate(frame);
    for (auto element : document["data"]) {
        Trade trade;
        // In the order in which the keys come, which is the fastest way.
        simdjson::ondemand::object object = element.get_object();
        trade.price = object["p"].get_double();
        trade.symbol = intern(object["s"].get_string());
        trade.time = object["t"].get_int64().value() * 1000000;
        trade.size = object["v"].get_double();
        trades.push_back(trade);
    }
}

static double thread_cpu_ns() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

int main(int count, char **arguments) {
    if (count < 2) return 64;
    std::vector<simdjson::padded_string> frames;
    std::ifstream file(arguments[1]);
    simdjson::dom::parser lines;
    for (std::string line; std::getline(file, line);) {
        std::string_view frame;
        if (lines.parse(line)["frame"].get(frame)) continue;
        if (frame.find("\"data\"") != frame.npos) frames.emplace_back(frame);
    }
    double best = 1e9;
    size_t units = 0;
    for (int pass = 0; pass < 26; pass++) {
        units = 0;
        double start = thread_cpu_ns();
        for (auto &frame : frames) {
            trades.clear();
            parse(frame);
            units += trades.size();
        }
        best = std::min(best, (thread_cpu_ns() - start) / double(units));
    }
    std::printf("simdjson %d.%d, %zu trades: %.2f ns best\n", int(simdjson::SIMDJSON_VERSION_MAJOR), int(simdjson::SIMDJSON_VERSION_MINOR), units, best);
}
