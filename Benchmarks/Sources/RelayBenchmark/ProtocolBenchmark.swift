/// The benchmark of all protocols on one relay, beside each of them alone with as many clients.
struct ProtocolBenchmark {
    private static let clients = 200
    /// The frames per second, and the trades in each.
    private static let rate = 200
    private static let trades = 10

    let bench: Workbench

    func rows() throws -> [Row] {
        var together: [ProtocolRound] = []
        var alone: [ReceiverProtocol: [ProtocolRound]] = [:]
        for round in 0..<self.bench.options.rounds {
            let turns = [nil] + ReceiverProtocol.allCases.map(Optional.some)
            // The order alternates between rounds.
            for turn in round % 2 == 0 ? turns : turns.reversed() {
                Workbench.say("protocols: \(Self.clients) clients, round \(round + 1), \(turn?.rawValue ?? "together")")
                let groups = turn.map { Self.groups(of: $0) } ?? Self.groups
                let result = try ProtocolRound(self.bench, groups, rate: Self.rate, trades: Self.trades)
                if let turn { alone[turn, default: []].append(result) } else { together.append(result) }
            }
        }
        // What the deliveries of a round would have cost if each protocol had been alone.
        let ratios = together.indices.map { round in
            let expected = alone.reduce(0) { sum, rounds in
                sum + Double(together[round].parts[rounds.key]?.delivered ?? 0) * rounds.value[round].cpuPerDelivery
            }
            return Double(together[round].cpu) / expected
        }
        let all = Self.row("together", nil, together: together, rounds: together, ratio: ratios.median)
        return [all]
            + ReceiverProtocol.allCases.map { name in
                Self.row(name.rawValue, name, together: together, rounds: alone[name] ?? [], ratio: .nan)
            }
    }

    /// All protocols with even shares of the clients, a slow client of each, and one that reads the newest price.
    private static var groups: [Receivers.Group] {
        let all = ReceiverProtocol.allCases
        return all.enumerated().flatMap { place, name in
            let share = Self.clients / all.count + (place < Self.clients % all.count ? 1 : 0)
            let prices = name.countsSkipped ? [Receivers.Group(protocol: name, kind: .prices, clients: 1)] : []
            return [
                Receivers.Group(protocol: name, kind: .trades, clients: share),
                Receivers.Group(protocol: name, kind: .slow, clients: 1),
            ] + prices
        }
    }

    private static func groups(of name: ReceiverProtocol) -> [Receivers.Group] {
        [
            Receivers.Group(protocol: name, kind: .trades, clients: Self.clients),
            Receivers.Group(protocol: name, kind: .slow, clients: 1),
        ]
    }

    /// Returns a row. Counts, sums of all rounds, are those of the protocol among the others; CPU time, backlog and memory
    /// are those of `rounds`, in which a protocol was alone.
    private static func row(
        _ title: String,
        _ name: ReceiverProtocol?,
        together: [ProtocolRound],
        rounds: [ProtocolRound],
        ratio: Double
    ) -> Row {
        Row([
            "protocol": .text(title),
            "delivered": .count(together.sum(name) { $0.delivered }),
            "missing": .count(together.sum(name) { $0.missing }),
            "repeated": .count(together.sum(name) { $0.repeated }),
            "others": .count(together.sum(name) { $0.others }),
            "others_told": .count(together.sum(name) { $0.told }),
            "p50_us": together.latency(name, 0.5),
            "p99_us": together.latency(name, 0.99),
            "p99_alone_us": rounds.latency(name, 0.99),
            "cpu_us_per_delivery": .number(rounds.median { $0.cpuPerDelivery } / 1_000, digits: 3),
            "cpu_ratio": .number(ratio, digits: 2),
            "backlog_kib": .number(rounds.map { Double($0.backlog) / 1_024 }.max() ?? .nan, digits: 0),
            "memory_mib": .number(rounds.median { Double($0.memory) / 1_024 }, digits: 1),
            "sent_late_us": .number(rounds.median { Double($0.lateness) / 1_000 }, digits: 0),
        ])
    }
}
