import Glibc

/// The clients of a relay on one thread, and the fake Finnhub that feeds it. It sends, receives and counts messages.
final class Crowd {
    /// The message counts of one phase.
    struct Books {
        var sent = 0
        /// The messages that clients received for the first time.
        var delivered = 0
        /// The messages that a client received again, or after a later one.
        var repeated = 0
        /// The latency of every delivery, from just before the upstream's send to just after the client's receive.
        var latency = Histogram()
        /// The largest delay of a send after its planned time, ns.
        var lateness: Int64 = 0
    }

    private final class Member {
        let socket: Int32
        var frames = FrameReader()
        /// The number of the newest message.
        var newest = -1
        var isOpen = true
        /// Whether it has stopped reading.
        var isFrozen = false

        init(socket: Int32) { self.socket = socket }
    }

    /// The time without any delivery after which a phase ends, and missing messages count as lost; ns.
    private static let patience = 5 * Clock.second

    /// The number of simultaneous connection attempts.
    private static let wave = 256

    private let finnhub: FakeFinnhub
    private let poll: EventPoll
    private var members: [Member] = []
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    /// The time at which each message was sent, by its number.
    private var sendTimes: [Int64] = []
    private var books = Books()
    /// The first message of this phase; deliveries of earlier ones are not counted.
    private var firstNumber = 0
    private var lastDelivery: Int64 = 0

    init(finnhub: FakeFinnhub) throws {
        self.finnhub = finnhub
        self.poll = try EventPoll()
        try self.poll.add(finnhub.connection, as: 0)
    }

    deinit {
        self.leave()
        self.scratch.deallocate()
    }

    var openCount: Int { self.members.count { $0.isOpen } }

    /// Connects this many clients, which subscribe. A wave is no larger than a listener's default backlog.
    func join(_ count: Int, port: Int, process: ChildProcess) throws {
        let request = WebSocketText.request(port: port, path: "/")
        let subscribe = WebSocketText.subscribe(TradeMessage.symbol)
        for first in stride(from: 0, to: count, by: Self.wave) {
            let places = self.members.count..<self.members.count + min(Self.wave, count - first)
            for _ in places {
                let member = Member(socket: try Loopback.connect(port: port, to: process))
                self.members.append(member)
                try Loopback.send(request, to: member.socket)
            }
            for place in places {
                let member = self.members[place]
                try self.takeAnswer(member)
                try Loopback.send(subscribe, to: member.socket)
                try self.poll.add(member.socket, as: place + 1)
            }
        }
    }

    /// Makes one client stop reading, and excludes it from the counts.
    func freezeOne() throws {
        guard let member = self.members.first(where: { $0.isOpen && !$0.isFrozen }) else { return }
        try self.poll.remove(member.socket)
        member.isFrozen = true
    }

    /// Disconnects all clients without a close frame.
    func leave() {
        for member in self.members where member.isOpen { close(member.socket) }
        self.members = []
    }

    /// Sends messages at intervals until one has reached every client, since a subscribe has no answer.
    func warmUp() throws {
        let limit = Clock.now() + 20 * Clock.second
        // Any message of this phase suffices: on a busy machine the next one is sent before all clients have the last.
        self.firstNumber = self.sendTimes.count
        let pause = max(Clock.second / 10, Int64(self.members.count) * Clock.second / 20_000)
        while self.members.contains(where: { $0.isOpen && $0.newest < self.firstNumber }) || self.members.isEmpty {
            guard Clock.now() < limit else { throw BenchmarkFailure("not all clients get messages") }
            try self.sendNext(late: 0)
            let next = Clock.now() + pause
            while Clock.now() < next { try self.receive(nanoseconds: next - Clock.now()) }
        }
    }

    /// Sends messages at a constant rate and receives until all clients have them; returns the counts. Call `warmUp`
    /// first.
    func send(_ count: Int, every interval: Int64) throws -> Books {
        self.books = Books()
        self.firstNumber = self.sendTimes.count
        let expected = count * self.members.count { $0.isOpen && !$0.isFrozen }
        let start = Clock.now()
        self.lastDelivery = start
        while true {
            let now = Clock.now()
            var wait = 10_000_000 as Int64
            if self.books.sent < count {
                let due = start + Int64(self.books.sent) * interval
                if due <= now { try self.sendNext(late: now - due) }
                wait = start + Int64(self.books.sent) * interval - Clock.now()
            } else if self.books.delivered >= expected || now - self.lastDelivery > Self.patience {
                break
            }
            try self.receive(nanoseconds: wait)
        }
        return self.books
    }

    /// Receives for this time.
    func idle(seconds: Int) throws {
        let end = Clock.now() + Int64(seconds) * Clock.second
        while Clock.now() < end { try self.receive(nanoseconds: end - Clock.now()) }
    }

    private func sendNext(late: Int64) throws {
        let frame = TradeMessage.frame(number: self.sendTimes.count)
        self.books.sent += 1
        self.books.lateness = max(self.books.lateness, late)
        self.sendTimes.append(Clock.now())
        try self.finnhub.send(frame)
    }

    private func receive(nanoseconds: Int64) throws {
        for number in try self.poll.wait(nanoseconds: nanoseconds) {
            if number == 0 { try self.finnhub.serve() } else { try self.read(self.members[Int(number) - 1]) }
        }
    }

    private func read(_ member: Member) throws {
        member.frames.lay(into: self.scratch)
        let waiting = member.frames.waiting
        switch Loopback.receive(member.socket, into: UnsafeMutableRawBufferPointer(rebasing: self.scratch[waiting...]))
        {
        case .nothing:
            break
        case .closed:
            member.isOpen = false
            close(member.socket)
        case .bytes(let count):
            let now = Clock.now()
            self.lastDelivery = now
            try member.frames.take(waiting + count, of: self.scratch) { opcode, payload in
                switch opcode {
                case 0x1: self.received(payload, by: member, at: now)
                case 0x9: try Loopback.send(WebSocketText.clientFrame(opcode: 0xA, Array(payload)), to: member.socket)
                default: break
                }
            }
        }
    }

    private func received(_ payload: UnsafeRawBufferPointer, by member: Member, at now: Int64) {
        guard let number = TradeMessage.number(in: payload), self.sendTimes.indices.contains(number) else { return }
        guard number >= self.firstNumber else { return }
        guard number > member.newest else {
            self.books.repeated += 1
            return
        }
        // Skipped messages are missing in `delivered`.
        member.newest = number
        self.books.delivered += 1
        self.books.latency.add(now - self.sendTimes[number])
    }

    private func takeAnswer(_ member: Member) throws {
        var answer: [UInt8] = []
        while !answer.ends(with: "\r\n\r\n") {
            guard Loopback.isReadable(member.socket, seconds: 10),
                case .bytes(let count) = Loopback.receive(member.socket, into: self.scratch)
            else { throw BenchmarkFailure("the relay does not answer a handshake") }
            answer += self.scratch[..<count]
        }
        guard answer.starts(with: "HTTP/1.1 101 ".utf8) else {
            throw BenchmarkFailure("the relay refuses: \(String(decoding: answer.prefix(80), as: UTF8.self))")
        }
    }
}
