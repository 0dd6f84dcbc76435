import CLoad

/// One start of the program with clients of some protocols, who are sent trades at an even pace.
struct ProtocolRound {
    /// What the clients of one protocol got.
    struct Part {
        /// The trades to clients who want every trade.
        var delivered = 0
        var missing = 0
        var repeated = 0
        var closed = 0
        var latency = Histogram()
        /// The clients that do not read, or want the newest price only, and those of them whose trades and reports of
        /// missed trades add up.
        var others = 0
        var told = 0
    }

    /// By the protocols of the clients.
    private(set) var parts: [ReceiverProtocol: Part] = [:]
    /// The program's CPU time while trades are sent, ns.
    let cpu: Int64
    /// The most bytes that waited for clients in the program.
    let backlog: Int64
    /// The most memory of the program, KiB.
    let memory: Int
    /// The largest delay of a send after its planned time, ns.
    let lateness: Int64

    /// - Parameters:
    ///   - rate: the frames per second.
    ///   - trades: the trades in each frame.
    init(_ bench: Workbench, _ groups: [Receivers.Group], rate: Int, trades: Int) throws {
        let finnhub = try FakeFinnhub()
        let ports = Receivers.Ports(relay: try Loopback.freePort(), lines: try Loopback.freePort())
        let clients = groups.reduce(0) { $0 + $1.clients }
        let settings = [
            "relay.wamp=true", "lines.listen=127.0.0.1:\(ports.lines)", "relay.max-clients=\(max(clients, 1_000))",
            // A slow client is behind after two seconds, in each protocol.
            "relay.max-waiting=256KiB",
        ]
        let process = try bench.startProgram(
            upstream: finnhub,
            ["--quiet", "--relay", "127.0.0.1:\(ports.relay)"] + settings.flatMap { ["--set", $0] }
        )
        defer { process.stop() }
        try finnhub.accept(process)
        let receivers = try Receivers(finnhub: finnhub, process: process, ports: ports)
        for group in groups { try receivers.join(group) }
        try receivers.warmUp(rate: rate, trades: trades)
        let before = process.cpu
        try receivers.send(rate * bench.options.seconds, of: trades, rate: rate, slowRead: false)
        self.cpu = process.cpu - before
        self.lateness = receivers.lateness
        let protocols = Set(groups.map(\.protocol))
        for `protocol` in protocols {
            let figures = receivers.figures(`protocol`, .trades)
            var part = Part(
                delivered: Int(figures.delivered),
                missing: Int(figures.missing),
                repeated: Int(figures.repeated),
                closed: Int(figures.closed)
            )
            for latency in UnsafeBufferPointer(start: figures.latencies, count: Int(figures.latency_count)) {
                part.latency.add(latency)
            }
            self.parts[`protocol`] = part
        }
        try receivers.settle()
        for `protocol` in protocols {
            for kind in [ReceiverKind.slow, .prices] {
                let figures = receivers.figures(`protocol`, kind)
                self.parts[`protocol`]?.others += Int(figures.members)
                self.parts[`protocol`]?.told += Int(figures.told)
                self.parts[`protocol`]?.repeated += Int(figures.repeated)
            }
        }
        self.backlog = receivers.backlog
        self.memory = process.memory("VmHWM")
        for (name, part) in self.parts where part.missing + part.repeated + part.closed > 0 || part.told < part.others {
            bench.breaches.append(
                "\(name.rawValue) (\(clients) clients): \(part.missing) trades are missing, \(part.repeated) came twice or"
                    + " late, \(part.closed) clients were closed, \(part.told) of \(part.others) slow clients and readers"
                    + " of prices know what they missed"
            )
        }
    }

    var delivered: Int { self.parts.values.reduce(0) { $0 + $1.delivered } }

    /// ns.
    var cpuPerDelivery: Double { Double(self.cpu) / Double(max(self.delivered, 1)) }

    var latency: Histogram {
        self.parts.values.reduce(into: Histogram()) { $0.add($1.latency) }
    }
}

extension [ProtocolRound] {
    /// Returns the median of a figure of each round.
    func median(_ figure: (ProtocolRound) -> Double) -> Double { self.map(figure).median }

    /// Returns the sum of a figure of one protocol, or of all if it is `nil`.
    func sum(_ name: ReceiverProtocol?, _ figure: (ProtocolRound.Part) -> Int) -> Int {
        self.reduce(0) { sum, round in
            sum + round.parts.reduce(0) { $0 + (name == nil || $1.key == name ? figure($1.value) : 0) }
        }
    }

    /// Returns the median of the rounds' quantiles of the latency of one protocol, or of all if it is `nil`, us.
    func latency(_ name: ReceiverProtocol?, _ part: Double) -> Row.Value {
        let values = self.map { round in
            let latency = name.map { round.parts[$0]?.latency ?? Histogram() } ?? round.latency
            return Double(latency.quantile(part)) / 1_000
        }
        return .number(values.median, digits: 0)
    }
}
