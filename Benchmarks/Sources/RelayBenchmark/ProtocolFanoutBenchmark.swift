/// The benchmark of the fan-out of single trades to many clients of one protocol, beside those of `/`.
struct ProtocolFanoutBenchmark {
    /// The frames per second, each with one trade.
    private static let rate = 100

    let bench: Workbench

    func rows() throws -> [Row] {
        let clients = self.bench.options.manyClients
        var rounds: [ReceiverProtocol: [ProtocolRound]] = [:]
        for round in 0..<self.bench.options.rounds {
            // The order alternates between rounds.
            for name in round % 2 == 0 ? ReceiverProtocol.allCases : ReceiverProtocol.allCases.reversed() {
                Workbench.say("protocol-fanout: \(clients) clients, round \(round + 1), \(name.rawValue)")
                let group = Receivers.Group(protocol: name, kind: .trades, clients: clients)
                rounds[name, default: []].append(
                    try ProtocolRound(self.bench, [group], rate: Self.rate, trades: 1)
                )
            }
        }
        return ReceiverProtocol.allCases.map { name in
            let own = rounds[name] ?? []
            let ratios = zip(own, rounds[.finnhub] ?? []).map { $0.cpuPerDelivery / $1.cpuPerDelivery }
            return Row([
                "protocol": .text(name.rawValue),
                "clients": .count(clients),
                "delivered": .count(own.sum(name) { $0.delivered }),
                "missing": .count(own.sum(name) { $0.missing }),
                "repeated": .count(own.sum(name) { $0.repeated }),
                "cpu_us_per_delivery": .number(own.median { $0.cpuPerDelivery } / 1_000, digits: 2),
                "cpu_ratio": .number(ratios.median, digits: 2),
                "p50_us": own.latency(name, 0.5),
                "p99_us": own.latency(name, 0.99),
                "backlog_kib": .number(own.map { Double($0.backlog) / 1_024 }.max() ?? .nan, digits: 0),
                "sent_late_us": .number(own.median { Double($0.lateness) / 1_000 }, digits: 0),
            ])
        }
    }
}
