#!/bin/sh
# Runs the benchmarks and simdjson on one recording and on made frames of the venues' own feeds, three times in turn:
# compare the lines of one run.
# Needs g++ and libsimdjson-dev. Usage: compare.sh [RECORDING]
set -eu
cd "$(dirname "$0")/.."
recording=${1:-../Sources/Tickertape/Resources/demo.jsonl}
swift build -c release >&2
mkdir -p .build/peers
g++ -O3 -march=native -DNDEBUG -std=c++17 -o .build/peers/simdjson Peers/simdjson.cpp -lsimdjson
g++ -O3 -march=native -DNDEBUG -std=c++17 -o .build/peers/simdjson-venues Peers/simdjson-venues.cpp -lsimdjson
for venue in binance coinbase kraken; do .build/release/Benchmarks --frames $venue >.build/peers/$venue.jsonl; done
for _ in 1 2 3; do
    .build/release/Benchmarks "$recording"
    .build/peers/simdjson "$recording"
    for venue in binance coinbase kraken; do .build/peers/simdjson-venues .build/peers/$venue.jsonl $venue; done
done
