/// The benchmark of the fan-out of one message: its CPU time and its latency. The relays take turns in each round.
struct FanoutBenchmark {
    /// One round of one relay.
    private struct Round {
        var books: Crowd.Books
        /// The number of messages that clients should have received.
        var expected: Int
        /// The relay's CPU time for them, ns.
        var cpu: Int64

        var cpuPerDelivery: Double { Double(self.cpu) / Double(max(self.books.delivered, 1)) }

        func latency(_ part: Double) -> Double { Double(self.books.latency.quantile(part)) }
    }

    let bench: Workbench

    func rows() throws -> [Row] {
        let contenders = try self.bench.contenders()
        var rows: [Row] = []
        for (clients, rate) in zip(self.bench.options.clients, self.bench.options.rates) {
            var rounds: [Contender: [Round]] = [:]
            for round in 0..<self.bench.options.rounds {
                // The order alternates between rounds.
                for contender in round % 2 == 0 ? contenders : contenders.reversed() {
                    Workbench.say("fanout: \(clients) clients, round \(round + 1), \(contender.rawValue)")
                    rounds[contender, default: []].append(try self.measure(contender, clients: clients, rate: rate))
                }
            }
            for contender in contenders {
                rows.append(
                    Self.row(contender, clients, rate, rounds[contender] ?? [], floor: rounds[.floor] ?? [])
                )
            }
        }
        return rows
    }

    private func measure(_ contender: Contender, clients: Int, rate: Int) throws -> Round {
        let finnhub = try FakeFinnhub()
        let port = try Loopback.freePort()
        let process = try self.bench.start(contender, upstream: finnhub, port: port, clients: clients)
        defer { process.stop() }
        try finnhub.accept(process)
        let crowd = try Crowd(finnhub: finnhub)
        try crowd.join(clients, port: port, process: process)
        try crowd.warmUp()
        let interval = Clock.second / Int64(rate)
        _ = try crowd.send(max(rate / 2, 1), every: interval)
        let before = process.cpu
        let count = rate * self.bench.options.seconds
        let books = try crowd.send(count, every: interval)
        let round = Round(books: books, expected: count * clients, cpu: process.cpu - before)
        if contender == .tickertape, books.delivered != round.expected || books.repeated > 0 {
            self.bench.breaches.append(
                "fanout: \(round.expected - books.delivered) of \(round.expected) deliveries to \(clients) clients are"
                    + " missing, \(books.repeated) came twice or late, \(clients - crowd.openCount) clients were closed"
            )
        }
        return round
    }

    /// Returns the row of a relay: delivered and lost messages are sums of all rounds, a ratio is the median of the
    /// ratios to the floor in the same round, and every other figure is the median round's.
    private static func row(
        _ contender: Contender,
        _ clients: Int,
        _ rate: Int,
        _ rounds: [Round],
        floor: [Round]
    ) -> Row {
        let expected = rounds.reduce(0) { $0 + $1.expected }
        let delivered = rounds.reduce(0) { $0 + $1.books.delivered }
        let cpu = rounds.map(\.cpuPerDelivery).median
        func latency(_ part: Double) -> Double { rounds.map { $0.latency(part) / 1_000 }.median }
        func ratio(_ figure: (Round) -> Double) -> Row.Value {
            .number(zip(rounds, floor).map { figure($0) / figure($1) }.median, digits: 2)
        }
        return Row([
            "relay": .text(contender.rawValue),
            "clients": .count(clients),
            "messages_s": .count(rate),
            "delivered": .count(delivered),
            "lost": .count(expected - delivered),
            "repeated": .count(rounds.reduce(0) { $0 + $1.books.repeated }),
            "cpu_us_per_delivery": .number(cpu / 1_000, digits: 2),
            "cpu_ratio": ratio(\.cpuPerDelivery),
            "p50_us": .number(latency(0.5), digits: 0),
            "p50_ratio": ratio { $0.latency(0.5) },
            "p99_us": .number(latency(0.99), digits: 0),
            "p99_ratio": ratio { $0.latency(0.99) },
            "max_us": .number(latency(1), digits: 0),
            "sent_late_us": .number(rounds.map { Double($0.books.lateness) / 1_000 }.median, digits: 0),
        ])
    }
}
