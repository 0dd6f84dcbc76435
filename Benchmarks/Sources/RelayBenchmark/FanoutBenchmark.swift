/// What it costs to pass one message on to many: the program and the baseline in turns, round by round.
struct FanoutBenchmark {
    /// One round of one relay.
    private struct Round {
        var books: Crowd.Books
        /// Messages that clients should have received.
        var expected: Int
        /// The relay's CPU time for them, ns.
        var cpu: Int64

        var cpuPerDelivery: Double { Double(self.cpu) / Double(max(self.books.delivered, 1)) }
    }

    private enum Relay: String, CaseIterable {
        case baseline, tickertape
    }

    let bench: Workbench

    func rows() throws -> [Row] {
        var rows: [Row] = []
        for (clients, rate) in zip(self.bench.options.clients, self.bench.options.rates) {
            var rounds: [Relay: [Round]] = [:]
            for round in 0..<self.bench.options.rounds {
                // Each goes first in every other round.
                for relay in round % 2 == 0 ? Relay.allCases : Relay.allCases.reversed() {
                    Workbench.say("fanout: \(clients) clients, round \(round + 1), \(relay.rawValue)")
                    rounds[relay, default: []].append(try self.measure(relay, clients: clients, rate: rate))
                }
            }
            let pairs = zip(rounds[.tickertape] ?? [], rounds[.baseline] ?? [])
            let ratio = pairs.map { $0.cpuPerDelivery / $1.cpuPerDelivery }.median
            for relay in Relay.allCases {
                let isProgram = relay == .tickertape
                rows.append(
                    Self.row(relay, clients, rate, rounds[relay] ?? [], ratio: isProgram ? ratio : 1)
                )
            }
        }
        return rows
    }

    private func measure(_ relay: Relay, clients: Int, rate: Int) throws -> Round {
        let finnhub = try FakeFinnhub()
        let port = try Loopback.freePort()
        let process =
            switch relay {
            case .baseline:
                try self.bench.startBaseline(upstream: finnhub, port: port)
            case .tickertape:
                try self.bench.startProgram(
                    upstream: finnhub,
                    ["--quiet", "--relay", "127.0.0.1:\(port)", "--set", "relay.max-clients=\(max(clients, 1_000))"]
                )
            }
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
        if relay == .tickertape, books.delivered != round.expected || books.repeated > 0 {
            self.bench.breaches.append(
                "fanout: \(round.expected - books.delivered) of \(round.expected) deliveries to \(clients) clients are"
                    + " missing, \(books.repeated) came twice or late, \(clients - crowd.openCount) clients were closed"
            )
        }
        return round
    }

    /// Delivered and lost are sums of all rounds, everything else is the middle round's.
    private static func row(_ relay: Relay, _ clients: Int, _ rate: Int, _ rounds: [Round], ratio: Double) -> Row {
        let expected = rounds.reduce(0) { $0 + $1.expected }
        let delivered = rounds.reduce(0) { $0 + $1.books.delivered }
        let cpu = rounds.map(\.cpuPerDelivery).median
        func latency(_ part: Double) -> Double {
            rounds.map { Double($0.books.latency.quantile(part)) / 1_000 }.median
        }
        return Row([
            "relay": .text(relay.rawValue),
            "clients": .count(clients),
            "messages_s": .count(rate),
            "delivered": .count(delivered),
            "lost": .count(expected - delivered),
            "repeated": .count(rounds.reduce(0) { $0 + $1.books.repeated }),
            "cpu_us_per_delivery": .number(cpu / 1_000, digits: 2),
            "deliveries_per_cpu_s": .number(1e9 / cpu, digits: 0),
            "cpu_ratio": .number(ratio, digits: 2),
            "p50_us": .number(latency(0.5), digits: 0),
            "p99_us": .number(latency(0.99), digits: 0),
            "max_us": .number(latency(1), digits: 0),
            "sent_late_us": .number(rounds.map { Double($0.books.lateness) / 1_000 }.median, digits: 0),
        ])
    }
}
