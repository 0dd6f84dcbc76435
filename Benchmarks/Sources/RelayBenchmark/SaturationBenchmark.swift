/// The benchmark of one relay's throughput: the highest rate at which nearly everything still arrives in time.
struct SaturationBenchmark {
    private struct Step {
        var rate: Int
        var deliveriesPerSecond: Double
        var cpuPerDelivery: Double
        var p99: Int64
        var lateness: Int64

        /// Whether everything arrived, and soon. Messages in ever longer queues do not count as throughput.
        var keptUp: Bool
    }

    private static let seconds = 2
    private static let latest = Clock.second / 4
    private static let highest = 20_000

    let bench: Workbench

    func rows() throws -> [Row] {
        try self.bench.contenders().map { contender in
            var best: Step?
            var rate = 100
            while rate <= Self.highest {
                Workbench.say("saturation: \(self.bench.options.manyClients) clients, \(rate)/s, \(contender.rawValue)")
                let step = try self.measure(contender, rate: rate)
                guard step.keptUp else { break }
                best = step
                rate = rate * 3 / 2
            }
            return Row([
                "relay": .text(contender.rawValue),
                "clients": .count(self.bench.options.manyClients),
                "messages_s": .count(best?.rate ?? 0),
                "deliveries_s": .number(best?.deliveriesPerSecond ?? 0, digits: 0),
                "cpu_us_per_delivery": .number((best?.cpuPerDelivery ?? .nan) / 1_000, digits: 3),
                "p99_us": .number(Double(best?.p99 ?? 0) / 1_000, digits: 0),
                "sent_late_us": .number(Double(best?.lateness ?? 0) / 1_000, digits: 0),
            ])
        }
    }

    private func measure(_ contender: Contender, rate: Int) throws -> Step {
        let clients = self.bench.options.manyClients
        let finnhub = try FakeFinnhub()
        let port = try Loopback.freePort()
        let process = try self.bench.start(contender, upstream: finnhub, port: port, clients: clients)
        defer { process.stop() }
        try finnhub.accept(process)
        let crowd = try Crowd(finnhub: finnhub)
        try crowd.join(clients, port: port, process: process)
        try crowd.warmUp()
        let (before, start) = (process.cpu, Clock.now())
        let books = try crowd.send(rate * Self.seconds, every: Clock.second / Int64(rate))
        let seconds = Double(Clock.now() - start) / Double(Clock.second)
        let p99 = books.latency.quantile(0.99)
        return Step(
            rate: rate,
            deliveriesPerSecond: Double(books.delivered) / seconds,
            cpuPerDelivery: Double(process.cpu - before) / Double(max(books.delivered, 1)),
            p99: p99,
            lateness: books.lateness,
            keptUp: books.delivered == rate * Self.seconds * clients && p99 <= Self.latest
                && books.lateness <= Self.latest
        )
    }
}
