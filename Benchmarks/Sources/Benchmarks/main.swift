// Measures the path of a trade from the frame to the tape on a recording: `Benchmarks [RECORDING]`.
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

let path = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "../Sources/Tickertape/Resources/demo.jsonl"
guard let file = readFile(path) else {
    print("cannot read \(path)")
    exit(66)
}

measure(file, path: path)
