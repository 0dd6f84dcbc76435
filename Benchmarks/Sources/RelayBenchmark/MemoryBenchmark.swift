/// The benchmark of the program's memory: idle, with many clients, and after they have left.
struct MemoryBenchmark {
    let bench: Workbench

    func rows() throws -> [Row] {
        let clients = self.bench.options.manyClients
        Workbench.say("memory: idle and with \(clients) clients")
        let finnhub = try FakeFinnhub()
        let port = try Loopback.freePort()
        let process = try self.bench.startProgram(
            upstream: finnhub,
            ["--quiet", "--relay", "127.0.0.1:\(port)", "--set", "relay.max-clients=\(max(clients, 1_000))"]
        )
        defer { process.stop() }
        try finnhub.accept(process)
        let crowd = try Crowd(finnhub: finnhub)
        var rows: [Row] = []
        func note(_ state: String, cpuPerSecond: Double) {
            rows.append(
                Row([
                    "state": .text(state),
                    "clients": .count(crowd.openCount),
                    "rss_kib": .count(process.memory("VmRSS")),
                    "private_kib": .count(process.memory("RssAnon")),
                    "peak_kib": .count(process.memory("VmHWM")),
                    "cpu_ms_per_s": .number(cpuPerSecond, digits: 1),
                ])
            )
        }
        func idle(_ seconds: Int) throws -> Double {
            let before = process.cpu
            try crowd.idle(seconds: seconds)
            return Double(process.cpu - before) / 1e6 / Double(seconds)
        }

        note("connected, no trade for 5 s", cpuPerSecond: try idle(5))
        try crowd.join(clients, port: port, process: process)
        note("clients subscribed", cpuPerSecond: try idle(3))
        try crowd.warmUp()
        let before = process.cpu
        let books = try crowd.send(300, every: Clock.second / 100)
        guard books.delivered == 300 * clients else { throw BenchmarkFailure("memory: clients have lost messages") }
        note("3 s of 100 messages/s", cpuPerSecond: Double(process.cpu - before) / 1e6 / 3)
        crowd.leave()
        note("clients have left", cpuPerSecond: try idle(3))
        return rows
    }
}
