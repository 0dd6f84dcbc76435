import Glibc

/// The benchmark of `/v1/stream`'s prices with many clients, each of which follows one of many symbols.
struct PriceBenchmark {
    private static let clients = 500
    private static let symbols = (0..<50).map { $0 == 0 ? TradeMessage.symbol : "BENCH:S\($0)" }
    /// The frames per second, each with a trade of every symbol.
    private static let rate = 20

    let bench: Workbench

    func rows() throws -> [Row] {
        var figures: [(perDelivery: Double, share: Double, delivered: Int)] = []
        for round in 0..<self.bench.options.rounds {
            Workbench.say("prices: \(Self.clients) clients, round \(round + 1)")
            figures.append(try self.measure())
        }
        return [
            Row([
                "clients": .count(Self.clients),
                "symbols": .count(Self.symbols.count),
                "prices_s": .count(Self.symbols.count * Self.rate),
                "delivered": .count(figures.reduce(0) { $0 + $1.delivered }),
                "cpu_us_per_delivery": .number(figures.map(\.perDelivery).median, digits: 2),
                "cpu_percent": .number(figures.map(\.share).median, digits: 1),
            ])
        ]
    }

    private func measure() throws -> (perDelivery: Double, share: Double, delivered: Int) {
        let finnhub = try FakeFinnhub()
        let port = try Loopback.freePort()
        let process = try self.bench.startProgram(
            upstream: finnhub,
            ["--quiet", "--relay", "127.0.0.1:\(port)", "--set", "pipeline.quiet=0"]
        )
        defer { process.stop() }
        try finnhub.accept(process)
        let readers = try PriceReaders(finnhub: finnhub)
        for place in 0..<Self.clients {
            try readers.join(port: port, process: process, symbol: Self.symbols[place % Self.symbols.count])
        }
        try self.play(Self.rate * 2, to: readers, finnhub)
        let (before, began) = (process.cpu, Clock.now())
        readers.received = 0
        try self.play(Self.rate * self.bench.options.seconds, to: readers, finnhub)
        let cpu = Double(process.cpu - before)
        let expected = Self.clients * Self.rate * self.bench.options.seconds
        // The first price of a round may equal the last one of the round before.
        if readers.received < expected * 9 / 10 {
            self.bench.breaches.append("prices: \(readers.received) of \(expected) prices came")
        }
        return (
            cpu / 1_000 / Double(max(readers.received, 1)),
            100 * cpu / Double(Clock.now() - began),
            readers.received
        )
    }

    /// Sends frames at a constant rate, and waits a moment for the resulting prices.
    private func play(_ count: Int, to readers: PriceReaders, _ finnhub: FakeFinnhub) throws {
        let start = Clock.now()
        for number in 0..<count {
            let trades = Self.symbols.map { symbol in
                #"{"c":null,"p":\#(readers.nextPrice).5,"s":"\#(symbol)","t":\#(1_700_000_000_000 + readers.nextPrice),"v":1}"#
            }
            readers.nextPrice += 1
            let text = #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#
            try finnhub.send(WebSocketText.serverFrame(opcode: 0x1, Array(text.utf8)))
            try readers.read(until: start + Int64(number + 1) * Clock.second / Int64(Self.rate))
        }
        try readers.read(until: Clock.now() + Clock.second / 4)
    }
}

/// The clients of `/v1/stream` on one thread, which count their prices.
private final class PriceReaders {
    private let finnhub: FakeFinnhub
    private let poll: EventPoll
    private var sockets: [(socket: Int32, frames: FrameReader)] = []
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    var received = 0
    /// Every price differs from the preceding one, and is newer.
    var nextPrice = 1_000

    init(finnhub: FakeFinnhub) throws {
        self.finnhub = finnhub
        self.poll = try EventPoll()
        try self.poll.add(finnhub.connection, as: 0)
    }

    deinit {
        for (socket, _) in self.sockets { close(socket) }
        self.scratch.deallocate()
    }

    func join(port: Int, process: ChildProcess, symbol: String) throws {
        let socket = try Loopback.connect(port: port, to: process)
        try Loopback.send(WebSocketText.request(port: port, path: "/v1/stream?symbol=\(symbol)"), to: socket)
        var answer: [UInt8] = []
        // The hello follows at once and is not counted.
        while !answer.contains(0x81) {
            guard Loopback.isReadable(socket, seconds: 10),
                case .bytes(let count) = Loopback.receive(socket, into: self.scratch)
            else { throw BenchmarkFailure("the relay does not answer a handshake") }
            answer += self.scratch[..<count]
        }
        guard let end = answer.firstIndex(of: 0x81) else { return }
        var frames = FrameReader()
        self.scratch.copyBytes(from: answer[end...])
        frames.take(answer.count - end, of: self.scratch) { _, _ in }
        self.sockets.append((socket, frames))
        try self.poll.add(socket, as: self.sockets.count)
    }

    /// Receives until this time.
    func read(until end: Int64) throws {
        while Clock.now() < end {
            for number in try self.poll.wait(nanoseconds: end - Clock.now()) {
                if number == 0 { try self.finnhub.serve() } else { try self.read(Int(number) - 1) }
            }
        }
    }

    private func read(_ place: Int) throws {
        self.sockets[place].frames.lay(into: self.scratch)
        let waiting = self.sockets[place].frames.waiting
        let room = UnsafeMutableRawBufferPointer(rebasing: self.scratch[waiting...])
        guard case .bytes(let count) = Loopback.receive(self.sockets[place].socket, into: room) else { return }
        var prices = 0
        self.sockets[place].frames.take(waiting + count, of: self.scratch) { opcode, payload in
            if opcode == 0x1, payload.starts(with: #"{"type":"price""#.utf8) { prices += 1 }
        }
        self.received += prices
    }
}
