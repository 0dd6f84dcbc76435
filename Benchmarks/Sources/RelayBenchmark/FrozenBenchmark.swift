/// The benchmark of one client in a hundred that stops reading: the effect on the others, and the memory.
struct FrozenBenchmark {
    private static let clients = 100
    private static let rate = 1_000

    let bench: Workbench

    func rows() throws -> [Row] {
        try self.bench.contenders().filter { $0 != .floor }.map { contender in
            Workbench.say("frozen: 1 of \(Self.clients) clients, \(contender.rawValue)")
            let finnhub = try FakeFinnhub()
            let port = try Loopback.freePort()
            let process = try self.bench.start(contender, upstream: finnhub, port: port, clients: Self.clients)
            defer { process.stop() }
            try finnhub.accept(process)
            let crowd = try Crowd(finnhub: finnhub)
            try crowd.join(Self.clients, port: port, process: process)
            try crowd.warmUp()
            let interval = Clock.second / Int64(Self.rate)
            _ = try crowd.send(Self.rate, every: interval)
            let before = try crowd.send(Self.rate * self.bench.options.frozenSeconds / 2, every: interval)
            let memory = process.memory("VmRSS")
            try crowd.freezeOne()
            let after = try crowd.send(Self.rate * self.bench.options.frozenSeconds, every: interval)
            let grown = process.memory("VmRSS") - memory
            let expected = Self.rate * self.bench.options.frozenSeconds * (Self.clients - 1)
            if contender == .tickertape, after.delivered != expected {
                self.bench.breaches.append("frozen: the others miss \(expected - after.delivered) messages")
            }
            func microseconds(_ books: Crowd.Books, _ part: Double) -> Row.Value {
                .number(Double(books.latency.quantile(part)) / 1_000, digits: 0)
            }
            return Row([
                "relay": .text(contender.rawValue),
                "seconds": .count(self.bench.options.frozenSeconds),
                "p50_before_us": microseconds(before, 0.5),
                "p50_after_us": microseconds(after, 0.5),
                "p99_before_us": microseconds(before, 0.99),
                "p99_after_us": microseconds(after, 0.99),
                "p99_ratio": .number(
                    Double(after.latency.quantile(0.99)) / Double(max(before.latency.quantile(0.99), 1)),
                    digits: 2
                ),
                "others_missing": .count(expected - after.delivered),
                "memory_grown_kib": .count(grown),
            ])
        }
    }
}
