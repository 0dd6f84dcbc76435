// Measures the path of a trade from the frame to the tape:
//
//   Benchmarks [RECORDING]          a recording of Finnhub's frames, and made frames of the venues' own feeds
//   Benchmarks RECORDING VENUE      a recording of a venue's frames (binance, coinbase, kraken)
//   Benchmarks --frames VENUE       prints the made frames of a venue as a recording, for Peers/simdjson-venues.cpp
//
// The default is the bundled recording. Every line is the cost of one trade. Compare the lines of one run, not the runs
// of different machines.
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

func readFile(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = fread(&chunk, 1, chunk.count, file)
        if count == 0 { return bytes }
        bytes.append(contentsOf: chunk[..<count])
    }
}

let arguments = CommandLine.arguments
if arguments.count == 3, arguments[1] == "--frames" {
    VenueFrames.print(of: arguments[2])
    exit(0)
}
let path = arguments.count > 1 ? arguments[1] : "../Sources/Tickertape/Resources/demo.jsonl"
guard let file = readFile(path) else {
    print("cannot read \(path)")
    exit(66)
}

if arguments.count > 2 {
    measureVenue(arguments[2], frames(of: file))
} else {
    measure(file, path: path)
    measureVenues()
}
