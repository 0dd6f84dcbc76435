import Glibc

/// One client of Finnhub's protocol that counts its trades and computes a digest of their frames.
struct LosslessReader {
    private let socket: Int32
    private let scratch: UnsafeMutableRawBufferPointer
    private(set) var trades = 0
    private(set) var digest = TextDigest()

    /// Connects and subscribes.
    init(port: Int, process: ChildProcess, symbols: [String]) throws {
        self.socket = try Loopback.connect(port: port, to: process)
        self.scratch = .allocate(byteCount: 1 << 18, alignment: 16)
        try Loopback.send(WebSocketText.request(port: port, path: "/"), to: self.socket)
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        // Byte by byte, so that no frame after the response is consumed.
        while !answer.ends(with: "\r\n\r\n") {
            guard Loopback.isReadable(self.socket, seconds: 10), recv(self.socket, &byte, 1, 0) == 1 else {
                throw BenchmarkFailure("the relay does not answer a handshake")
            }
            answer.append(byte)
        }
        // In one write, so that no trade is missed between two requests.
        try Loopback.send(symbols.flatMap(WebSocketText.subscribe), to: self.socket)
    }

    /// Reads to the end of the connection, for at most this time; releases everything.
    mutating func read(seconds: Int) throws {
        defer {
            close(self.socket)
            self.scratch.deallocate()
        }
        let limit = Clock.now() + Int64(seconds) * Clock.second
        var frames = FrameReader()
        while Clock.now() < limit {
            guard Loopback.isReadable(self.socket, seconds: 10) else { throw BenchmarkFailure("the relay is silent") }
            frames.lay(into: self.scratch)
            let waiting = frames.waiting
            let room = UnsafeMutableRawBufferPointer(rebasing: self.scratch[waiting...])
            switch Loopback.receive(self.socket, into: room) {
            case .nothing:
                break
            case .closed:
                return
            case .bytes(let count):
                var isClosing = false
                try frames.take(waiting + count, of: self.scratch) { opcode, payload in
                    switch opcode {
                    case 0x1: self.take(payload)
                    case 0x8: isClosing = true
                    case 0x9: try Loopback.send(WebSocketText.clientFrame(opcode: 0xA, Array(payload)), to: self.socket)
                    default: break
                    }
                }
                if isClosing {
                    try Loopback.send(WebSocketText.clientFrame(opcode: 0x8, [0x03, 0xE8]), to: self.socket)
                    return
                }
            }
        }
        throw BenchmarkFailure("the relay goes on for more than \(seconds) s")
    }

    private mutating func take(_ payload: UnsafeRawBufferPointer) {
        guard payload.starts(with: #"{"data":"#.utf8) else { return }
        self.digest.add(payload)
        // `"p":`
        let key = UInt32(bigEndian: 0x2270_223A)
        for offset in 0...payload.count - 4
        where payload.loadUnaligned(fromByteOffset: offset, as: UInt32.self) == key {
            self.trades += 1
        }
    }
}
