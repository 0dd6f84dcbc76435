import Glibc

/// A Finnhub on loopback for one connection: it accepts the subscribe, and sends messages on request.
final class FakeFinnhub {
    private let listener: Int32
    let port: Int
    private(set) var connection: Int32 = -1
    private var frames = FrameReader()
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    private var isSubscribed = false

    init() throws {
        self.listener = try Loopback.listen(port: 0)
        self.port = Loopback.port(of: self.listener)
    }

    deinit {
        if self.connection >= 0 { close(self.connection) }
        close(self.listener)
        self.scratch.deallocate()
    }

    /// Accepts the connection of `process` and waits until it has subscribed.
    func accept(_ process: ChildProcess) throws {
        do {
            self.connection = try Loopback.accept(self.listener, seconds: 20)
        } catch {
            throw BenchmarkFailure("\(process.name) does not connect: \(process.errors)")
        }
        var request: [UInt8] = []
        while !request.ends(with: "\r\n\r\n") {
            guard Loopback.isReadable(self.connection, seconds: 10) else { throw BenchmarkFailure("no handshake") }
            guard case .bytes(let count) = Loopback.receive(self.connection, into: self.scratch) else {
                throw BenchmarkFailure("the handshake broke off")
            }
            request += self.scratch[..<count]
        }
        try Loopback.send(WebSocketText.answer(to: request), to: self.connection)
        let limit = Clock.now() + 10 * Clock.second
        while !self.isSubscribed {
            guard Clock.now() < limit else { throw BenchmarkFailure("\(process.name) does not subscribe") }
            if Loopback.isReadable(self.connection, seconds: 1) { try self.serve() }
        }
    }

    /// Handles the program's frames: answers a ping, notes a subscribe.
    func serve() throws {
        self.frames.lay(into: self.scratch)
        let waiting = self.frames.waiting
        switch Loopback.receive(
            self.connection,
            into: UnsafeMutableRawBufferPointer(rebasing: self.scratch[waiting...])
        ) {
        case .nothing:
            break
        case .closed:
            throw BenchmarkFailure("the program has ended the upstream connection")
        case .bytes(let count):
            try self.frames.take(waiting + count, of: self.scratch) { opcode, payload in
                switch opcode {
                case 0x1: self.isSubscribed = true
                case 0x9: try self.send(WebSocketText.serverFrame(opcode: 0xA, Array(payload)))
                default: break
                }
            }
        }
    }

    func send(_ frame: [UInt8]) throws { try Loopback.send(frame, to: self.connection) }
}

extension [UInt8] {
    func ends(with text: StaticString) -> Bool {
        text.withUTF8Buffer { self.count >= $0.count && self.suffix($0.count).elementsEqual($0) }
    }
}
