// Measures the built program from outside, with load on loopback. Every part has a time limit.
import Glibc

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--help") {
        Workbench.show(Options.usage)
        exit(0)
    }
    let bench = try Workbench(Options(arguments))
    let benchmarks: [(name: String, rows: () throws -> [Row])] = [
        ("throughput", { try ThroughputBenchmark(bench: bench).rows() }),
        ("fanout", { try FanoutBenchmark(bench: bench).rows() }),
        ("prices", { try PriceBenchmark(bench: bench).rows() }),
        ("venues", { try VenueBenchmark(bench: bench).rows() }),
        ("protocols", { try ProtocolBenchmark(bench: bench).rows() }),
        ("protocol-fanout", { try ProtocolFanoutBenchmark(bench: bench).rows() }),
        ("saturation", { try SaturationBenchmark(bench: bench).rows() }),
        ("connections", { try ConnectionBenchmark(bench: bench).rows() }),
        ("frozen", { try FrozenBenchmark(bench: bench).rows() }),
        ("memory", { try MemoryBenchmark(bench: bench).rows() }),
        ("recording", { try RecordingBenchmark(bench: bench).rows() }),
        ("screen", { try ScreenBenchmark(bench: bench).rows() }),
    ]
    for benchmark in benchmarks where bench.options.wants(benchmark.name) {
        let rows = try benchmark.rows()
        Workbench.show("\n### \(benchmark.name)\n\n\(Row.table(rows))")
        guard let file = bench.options.jsonFile else { continue }
        try FileText.append(rows.map { $0.json(benchmark: benchmark.name) + "\n" }.joined(), to: file)
    }
    for breach in bench.breaches { Workbench.say("RelayBenchmark: \(breach)") }
    exit(bench.breaches.isEmpty ? 0 : 1)
} catch {
    Workbench.say("RelayBenchmark: \(error)")
    exit(1)
}
