import Glibc

/// The benchmark of the exchanges' own feeds: 10,000 trades a second from three of them to 100 clients, beside the same
/// rate from Finnhub.
struct VenueBenchmark {
    private static let clients = 100
    private static let rate = 10_000
    /// The frames leave in groups of this many, one group a millisecond.
    private static let group = 10
    static let symbols = ["BINANCE:BTCUSDT", "COINBASE:BTC-USD", "KRAKEN:XXBTZUSD"]

    /// Where the trades come from.
    private enum Source: String, CaseIterable {
        case finnhub, venues
    }

    let bench: Workbench

    func rows() throws -> [Row] {
        var figures: [Source: [(cpu: Double, share: Double)]] = [:]
        var ratios: [Double] = []
        for round in 0..<self.bench.options.rounds {
            var cpu: [Source: Double] = [:]
            for source in Source.allCases {
                Workbench.say("venues: \(source.rawValue), round \(round + 1)")
                let figure = try self.measure(source)
                figures[source, default: []].append(figure)
                cpu[source] = figure.cpu
            }
            ratios.append((cpu[.venues] ?? .nan) / (cpu[.finnhub] ?? .nan))
        }
        return Source.allCases.map { source in
            let own = figures[source] ?? []
            return Row([
                "source": .text(source.rawValue),
                "clients": .count(Self.clients),
                "trades_s": .count(Self.rate),
                "cpu_us_per_delivery": .number(own.map(\.cpu).median, digits: 3),
                "cpu_percent": .number(own.map(\.share).median, digits: 1),
                "cpu_ratio": .number(source == .finnhub ? 1 : ratios.median, digits: 2),
            ])
        }
    }

    /// Returns the CPU time of the program per delivery, us, and its share of a processor.
    private func measure(_ source: Source) throws -> (cpu: Double, share: Double) {
        let upstreams = try (0..<(source == .finnhub ? 1 : Self.symbols.count)).map { _ in try FakeFinnhub() }
        let port = try Loopback.freePort()
        let process = try self.start(source, upstreams, port: port)
        defer { process.stop() }
        for upstream in upstreams { try upstream.accept(process) }
        let readers = try VenueReaders(upstreams)
        for _ in 0..<Self.clients { try readers.join(port: port, process: process) }
        var next = 0
        try self.play(Self.rate, source, from: &next, upstreams, readers)
        let (before, began) = (process.cpu, Clock.now())
        readers.begin()
        let count = Self.rate * self.bench.options.seconds
        try self.play(count, source, from: &next, upstreams, readers)
        let cpu = Double(process.cpu - before)
        let share = 100 * cpu / Double(Clock.now() - began)
        if !readers.haveAll(count) {
            self.bench.breaches.append("venues: a client of \(source.rawValue) did not get \(count) trades")
        }
        return (cpu / 1_000 / Double(count * Self.clients), share)
    }

    private func start(_ source: Source, _ upstreams: [FakeFinnhub], port: Int) throws -> ChildProcess {
        let common = ["--quiet", "--relay", "127.0.0.1:\(port)"] + Self.symbols.flatMap { ["--symbol", $0] }
        guard source == .venues else {
            return try self.bench.startProgram(upstream: upstreams[0], common)
        }
        // Nothing listens on port 1: the names stay unchecked.
        let settings = zip(["binance", "coinbase", "kraken"], upstreams).flatMap { name, upstream in
            ["venues.\(name)-url=ws://127.0.0.1:\(upstream.port)", "venues.\(name)-service=http://127.0.0.1:1"]
        }
        return try self.bench.start(
            self.bench.options.program,
            ["--from", "venue"] + common + settings.flatMap { ["--set", $0] }
        )
    }

    /// Sends trades at a constant rate, one in a frame, of the symbols in turn.
    private func play(
        _ count: Int,
        _ source: Source,
        from next: inout Int,
        _ upstreams: [FakeFinnhub],
        _ readers: VenueReaders
    ) throws {
        let frames = (next..<next + count).map { Self.frame($0, source) }
        let first = next
        next += count
        let start = Clock.now()
        for begin in stride(from: 0, to: count, by: Self.group) {
            var bytes = [[UInt8]](repeating: [], count: upstreams.count)
            for place in begin..<min(begin + Self.group, count) {
                bytes[(first + place) % upstreams.count] += frames[place]
            }
            for (upstream, bytes) in zip(upstreams, bytes) where !bytes.isEmpty { try upstream.send(bytes) }
            let sent = Int64(begin + Self.group)
            try readers.read(until: start + sent * Clock.second / Int64(Self.rate))
        }
        try readers.read(until: Clock.now() + Clock.second / 2)
    }

    private static func frame(_ number: Int, _ source: Source) -> [UInt8] {
        let price = "\(61_000 + number % 1_000).\(number % 9 + 1)"
        let time = 1_790_649_901_000 + number / 10
        let text =
            switch (source, number % Self.symbols.count) {
            case (.finnhub, let symbol):
                #"{"data":[{"c":null,"p":\#(price),"s":"\#(Self.symbols[symbol])","t":\#(time),"v":0.02}],"type":"trade"}"#
            case (.venues, 0):
                #"{"stream":"btcusdt@trade","data":{"e":"trade","E":\#(time + 1),"s":"BTCUSDT","#
                    + #""t":\#(6_720_857_582 + number / 3),"p":"\#(price)0000000","q":"0.02000000","T":\#(time),"#
                    + #""m":true,"M":true}}"#
            case (.venues, 1):
                #"{"type":"match","trade_id":\#(1_081_862_675 + number / 3),"#
                    + #""maker_order_id":"f07e510f-4edf-469d-b844-4f670f1e93f1","#
                    + #""taker_order_id":"e6f50944-3e2a-439e-ae49-308300ba8296","side":"sell","size":"0.02","#
                    + #""price":"\#(price)","product_id":"BTC-USD","sequence":\#(134_905_860_111 + 9 * number),"#
                    + #""time":"\#(Self.time(number))"}"#
            case (.venues, _):
                #"{"channel":"trade","type":"update","data":[{"symbol":"BTC/USD","side":"buy","price":\#(price),"#
                    + #""qty":0.02000000,"ord_type":"limit","trade_id":\#(109_116_693 + number / 3),"#
                    + #""timestamp":"\#(Self.time(number))"}]}"#
            }
        return WebSocketText.serverFrame(opcode: 0x1, Array(text.utf8))
    }

    private static func time(_ number: Int) -> String {
        let microseconds = 1_000_000 + number * 97 % 1_000_000
        let seconds = 100 + number / Self.rate % 60
        return "2026-09-29T03:05:\(String(seconds).dropFirst()).\(String(microseconds).dropFirst())Z"
    }
}

/// The clients of `/` on one thread. They count bytes; the first one counts its trades, too, and all must get as many
/// bytes as it does.
private final class VenueReaders {
    private let upstreams: [FakeFinnhub]
    private let poll: EventPoll
    private var sockets: [Int32] = []
    private var bytes: [Int] = []
    private var trades = 0
    private var frames = FrameReader()
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)

    init(_ upstreams: [FakeFinnhub]) throws {
        self.upstreams = upstreams
        self.poll = try EventPoll()
        for (place, upstream) in upstreams.enumerated() { try self.poll.add(upstream.connection, as: place) }
    }

    deinit {
        for socket in self.sockets { close(socket) }
        self.scratch.deallocate()
    }

    func join(port: Int, process: ChildProcess) throws {
        let socket = try Loopback.connect(port: port, to: process)
        try Loopback.send(WebSocketText.request(port: port, path: "/"), to: socket)
        var answer: [UInt8] = []
        while !answer.ends(with: "\r\n\r\n") {
            guard Loopback.isReadable(socket, seconds: 10),
                case .bytes(let count) = Loopback.receive(socket, into: self.scratch)
            else { throw BenchmarkFailure("the relay does not answer a handshake") }
            answer += self.scratch[..<count]
        }
        for symbol in VenueBenchmark.symbols { try Loopback.send(WebSocketText.subscribe(symbol), to: socket) }
        try self.poll.add(socket, as: self.upstreams.count + self.sockets.count)
        self.sockets.append(socket)
        self.bytes.append(0)
    }

    /// Begins to count.
    func begin() {
        self.trades = 0
        self.bytes = self.bytes.map { _ in 0 }
    }

    /// Whether every client got so many trades.
    func haveAll(_ count: Int) -> Bool {
        self.trades == count && self.bytes.allSatisfy { $0 == self.bytes[0] }
    }

    /// Receives until this time.
    func read(until end: Int64) throws {
        repeat {
            for number in try self.poll.wait(nanoseconds: max(end - Clock.now(), 0)) {
                let place = Int(number) - self.upstreams.count
                if place < 0 { try self.upstreams[Int(number)].serve() } else { self.read(place) }
            }
        } while Clock.now() < end
    }

    private func read(_ place: Int) {
        let waiting = place == 0 ? self.frames.waiting : 0
        if place == 0 { self.frames.lay(into: self.scratch) }
        let room = UnsafeMutableRawBufferPointer(rebasing: self.scratch[waiting...])
        guard case .bytes(let count) = Loopback.receive(self.sockets[place], into: room) else { return }
        self.bytes[place] += count
        guard place == 0 else { return }
        var trades = 0
        self.frames.take(waiting + count, of: self.scratch) { opcode, payload in
            if opcode == 0x1 { trades += Self.trades(in: payload) }
        }
        self.trades += trades
    }

    /// Counts the trades of a message by their prices.
    private static func trades(in payload: UnsafeRawBufferPointer) -> Int {
        let key = Array(#""p":"#.utf8)
        var (count, here) = (0, 0)
        while here + key.count <= payload.count {
            if payload[here..<here + key.count].elementsEqual(key) { count += 1 }
            here += 1
        }
        return count
    }
}
