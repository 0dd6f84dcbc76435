import CLoad
import Glibc

/// The clients of one program in any of its protocols. They receive in C (`receivers.c`), on a thread that never sleeps.
final class Receivers {
    /// Some clients of one protocol and kind.
    struct Group {
        var `protocol`: ReceiverProtocol
        var kind: ReceiverKind
        var clients: Int
    }

    /// Where the program listens.
    struct Ports {
        let relay: Int
        let lines: Int
    }

    /// The receive buffer of a slow client, so that the kernel keeps little for it.
    private static let slowBuffer: Int32 = 32_768

    private let finnhub: FakeFinnhub
    private let process: ChildProcess
    private let ports: Ports
    private let set: OpaquePointer
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    /// The trades sent so far.
    private var sent = 0

    init(finnhub: FakeFinnhub, process: ChildProcess, ports: Ports) throws {
        self.finnhub = finnhub
        self.process = process
        self.ports = ports
        self.set = receivers_make(finnhub.connection, Int64(TradeMessage.firstTime))
        let observer = try Loopback.connect(port: ports.relay, to: process)
        let request = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:\(ports.relay)\r\n\r\n"
        guard receivers_observe(self.set, observer, request) == 0 else { throw BenchmarkFailure.call("epoll") }
    }

    deinit {
        receivers_free(self.set)
        self.scratch.deallocate()
    }

    func join(_ group: Group) throws {
        for _ in 0..<group.clients {
            let port = group.protocol.isLines ? self.ports.lines : self.ports.relay
            let socket = try Loopback.connect(port: port, to: self.process)
            if group.kind == .slow {
                var size = Self.slowBuffer
                setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            var rest: ArraySlice<UInt8> = []
            if !group.protocol.isLines {
                try Loopback.send(group.protocol.request(port: port, group.kind), to: socket)
                rest = try self.takeAnswer(socket)
            }
            if let hello = group.protocol.hello {
                try Loopback.send(hello, to: socket)
                // Nothing follows the WELCOME before the session subscribes.
                guard !(try self.receive(socket)).isEmpty else { throw BenchmarkFailure("no WELCOME") }
            }
            if let subscribe = group.protocol.subscribe(group.kind) { try Loopback.send(subscribe, to: socket) }
            let added = Array(rest).withUnsafeBufferPointer {
                receivers_add(
                    self.set,
                    socket,
                    group.protocol.number,
                    group.kind.number,
                    $0.baseAddress,
                    Int64($0.count)
                )
            }
            guard added == 0 else { throw BenchmarkFailure.call("epoll") }
        }
    }

    /// Sends frames until each client has received a trade.
    func warmUp(rate: Int, trades: Int) throws {
        let limit = Clock.now() + 20 * Clock.second
        while receivers_are_warm(self.set) == 0 {
            guard Clock.now() < limit else { throw BenchmarkFailure("not all clients get trades") }
            try self.send(max(rate / 4, 1), of: trades, rate: rate, slowRead: true)
        }
    }

    /// Sends frames at a constant rate, each of some trades, and receives until all clients have them.
    func send(_ frames: Int, of trades: Int, rate: Int, slowRead: Bool) throws {
        let bytes = (0..<frames).map { frame in
            let first = self.sent + frame * trades
            return TradeMessage.frame(numbers: first..<first + trades)
        }
        self.sent += frames * trades
        let begun = receivers_begin(
            self.set,
            bytes.flatMap(\.self),
            bytes.map { Int32($0.count) },
            Int32(frames),
            Int32(trades),
            Clock.second / Int64(rate),
            slowRead ? 1 : 0
        )
        guard begun == 0 else { throw BenchmarkFailure.call("epoll") }
        while true {
            switch receivers_run(self.set) {
            case 0: return
            case 1: try self.finnhub.serve()
            default: throw BenchmarkFailure.call("load")
            }
        }
    }

    /// Lets the slow clients read until they know what they missed.
    func settle() throws { try self.send(0, of: 1, rate: 1, slowRead: true) }

    func figures(_ protocol: ReceiverProtocol, _ kind: ReceiverKind) -> receiver_figures {
        receivers_figures(self.set, `protocol`.number, kind.number)
    }

    /// The largest delay of a send after its planned time in the last phase, ns.
    var lateness: Int64 { receivers_lateness(self.set) }

    /// The most bytes that waited for clients in the program.
    var backlog: Int64 { receivers_backlog(self.set) }

    /// Reads the answer to a handshake; returns the bytes behind it.
    private func takeAnswer(_ socket: Int32) throws -> ArraySlice<UInt8> {
        var answer: [UInt8] = []
        while true {
            answer += try self.receive(socket)
            guard let end = Self.end(of: answer) else { continue }
            guard answer.starts(with: "HTTP/1.1 101 ".utf8) else {
                throw BenchmarkFailure("the relay refuses: \(String(decoding: answer.prefix(80), as: UTF8.self))")
            }
            return answer[end...]
        }
    }

    private static func end(of answer: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        return answer.indices.first { answer[$0...].starts(with: mark) }.map { $0 + mark.count }
    }

    private func receive(_ socket: Int32) throws -> [UInt8] {
        guard Loopback.isReadable(socket, seconds: 10),
            case .bytes(let count) = Loopback.receive(socket, into: self.scratch)
        else { throw BenchmarkFailure("the relay does not answer a handshake") }
        return Array(self.scratch[..<count])
    }
}
