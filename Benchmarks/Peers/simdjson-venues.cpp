// The same work as "frame to tape" of a venue's own feed, by simdjson's on-demand parser: every trade of a recording, with
// numbers as doubles, the symbol compared with the ones before, and the time as ns. Prints ns per trade.
// Usage: simdjson-venues RECORDING VENUE
#include <simdjson.h>

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace simdjson;

struct Trade {
    double price, size;
    int64_t time;
    uint64_t id;
    uint16_t symbol;
};

static ondemand::parser parser;
static std::vector<std::string> symbols;
static std::vector<Trade> trades;

static uint16_t intern(std::string_view name) {
    for (size_t index = 0; index < symbols.size(); index++)
        if (symbols[index] == name) return uint16_t(index);
    symbols.emplace_back(name);
    return uint16_t(symbols.size() - 1);
}

static int64_t number(std::string_view text, size_t from, size_t count) {
    int64_t value = 0;
    for (size_t index = from; index < from + count; index++) value = value * 10 + (text[index] - '0');
    return value;
}

// `2026-08-25T03:35:57.198335Z`, without a check of the date.
static int64_t time_of(std::string_view text) {
    if (text.size() != 27) return 0;
    int64_t year = number(text, 0, 4), month = number(text, 5, 2), day = number(text, 8, 2);
    int64_t shifted = month <= 2 ? year - 1 : year;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + of_year - 719468;
    int64_t seconds = (number(text, 11, 2) * 60 + number(text, 14, 2)) * 60 + number(text, 17, 2);
    return (days * 86400 + seconds) * 1000000000 + number(text, 20, 6) * 1000;
}

static void parse_binance(const padded_string &frame) {
    auto document = parser.iterate(frame);
    // In the order in which the keys come, which is the fastest way.
    ondemand::object data = document["data"].get_object();
    std::string_view event = data["e"].get_string();
    if (event != "trade") return;
    Trade trade;
    trade.symbol = intern(data["s"].get_string());
    trade.id = data["t"].get_uint64();
    trade.price = data["p"].get_double_in_string();
    trade.size = data["q"].get_double_in_string();
    trade.time = data["T"].get_int64().value() * 1000000;
    trades.push_back(trade);
}

static void parse_coinbase(const padded_string &frame) {
    auto document = parser.iterate(frame);
    ondemand::object data = document.get_object();
    std::string_view type = data["type"].get_string();
    if (type != "match" && type != "last_match") return;
    Trade trade;
    trade.id = data["trade_id"].get_uint64();
    trade.size = data["size"].get_double_in_string();
    trade.price = data["price"].get_double_in_string();
    trade.symbol = intern(data["product_id"].get_string());
    trade.time = time_of(data["time"].get_string());
    trades.push_back(trade);
}

static void parse_kraken(const padded_string &frame) {
    auto document = parser.iterate(frame);
    std::string_view channel = document["channel"].get_string();
    if (channel != "trade") return;
    for (auto element : document["data"]) {
        Trade trade;
        ondemand::object object = element.get_object();
        trade.symbol = intern(object["symbol"].get_string());
        trade.price = object["price"].get_double();
        trade.size = object["qty"].get_double();
        trade.id = object["trade_id"].get_uint64();
        trade.time = time_of(object["timestamp"].get_string());
        trades.push_back(trade);
    }
}

static double thread_cpu_ns() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    std::string venue = arguments[2];
    auto parse = venue == "binance" ? parse_binance : venue == "coinbase" ? parse_coinbase : parse_kraken;
    std::vector<padded_string> frames;
    std::ifstream file(arguments[1]);
    dom::parser lines;
    size_t bytes = 0;
    for (std::string line; std::getline(file, line);) {
        std::string_view frame;
        if (lines.parse(line)["frame"].get(frame)) continue;
        frames.emplace_back(frame);
        bytes += frame.size();
    }
    std::vector<double> times;
    size_t units = 0;
    for (int pass = 0; pass < 52; pass++) {
        units = 0;
        double start = thread_cpu_ns();
        for (auto &frame : frames) {
            trades.clear();
            parse(frame);
            units += trades.size();
        }
        times.push_back((thread_cpu_ns() - start) / double(units));
    }
    std::sort(times.begin(), times.end());
    double length = double(bytes) / double(units);
    std::printf("simdjson %d.%d, %s, %zu trades: %.2f ns best, %.2f ns median; %.2f bytes/ns best, %.2f median\n",
                int(SIMDJSON_VERSION_MAJOR), int(SIMDJSON_VERSION_MINOR), venue.c_str(), units, times[0],
                times[times.size() / 2], length / times[0], length / times[times.size() / 2]);
}
