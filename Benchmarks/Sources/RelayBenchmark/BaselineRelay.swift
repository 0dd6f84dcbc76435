import Glibc

/// The least that a relay can do, for comparison: accepts, and sends each client what one read of the upstream brought.
///
/// A server's frames are the same on both sides, so it copies bytes and knows no WebSocket beyond the handshake. It has
/// no queues: a client whose socket is full is closed. Runs until the upstream ends.
struct BaselineRelay {
    private static let upstreamNumber = 0
    private static let listenerNumber = 1

    private let upstream: Int32
    private let listener: Int32
    private let poll: EventPoll
    /// By number: the socket, and what has come of the request; `nil` when that is answered.
    private var clients: [Int: (socket: Int32, request: [UInt8]?)] = [:]
    private var audience: [Int32] = []
    private var nextNumber = 2

    /// - Parameters:
    ///   - upstreamPort: where the fake Finnhub is.
    ///   - port: where to listen.
    init(upstreamPort: Int, port: Int) throws {
        guard let upstream = try Loopback.connect(port: upstreamPort) else { throw BenchmarkFailure("no upstream") }
        self.upstream = upstream
        try Loopback.send(WebSocketText.request(port: upstreamPort, path: "/"), to: upstream)
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        // One by one, so that no frame behind it is swallowed.
        while !answer.ends(with: "\r\n\r\n") {
            guard recv(upstream, &byte, 1, 0) == 1 else { throw BenchmarkFailure("the upstream refuses") }
            answer.append(byte)
        }
        try Loopback.send(WebSocketText.subscribe(TradeMessage.symbol), to: upstream)
        self.listener = try Loopback.listen(port: port)
        self.poll = try EventPoll()
        try self.poll.add(upstream, as: Self.upstreamNumber)
        try self.poll.add(self.listener, as: Self.listenerNumber)
    }

    mutating func run() throws {
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { scratch.deallocate() }
        while true {
            for number in try self.poll.wait(nanoseconds: Clock.second) {
                switch Int(number) {
                case Self.upstreamNumber:
                    switch Loopback.receive(self.upstream, into: scratch) {
                    case .bytes(let count): self.deliver(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
                    case .nothing: break
                    case .closed: return
                    }
                case Self.listenerNumber:
                    let socket = try Loopback.accept(self.listener, seconds: 1)
                    self.clients[self.nextNumber] = (socket, [])
                    try self.poll.add(socket, as: self.nextNumber)
                    self.nextNumber += 1
                case let number:
                    try self.serve(number, scratch)
                }
            }
        }
    }

    private mutating func deliver(_ bytes: UnsafeRawBufferPointer) {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        for socket in self.audience where send(socket, bytes.baseAddress, bytes.count, flags) != bytes.count {
            shutdown(socket, Int32(SHUT_RDWR))
        }
    }

    /// Takes what a client sent: its handshake, and later its subscribe, which says nothing new.
    private mutating func serve(_ number: Int, _ scratch: UnsafeMutableRawBufferPointer) throws {
        guard let client = self.clients[number] else { return }
        switch Loopback.receive(client.socket, into: scratch) {
        case .nothing:
            break
        case .closed:
            self.clients[number] = nil
            self.audience.removeAll { $0 == client.socket }
            close(client.socket)
        case .bytes(let count):
            guard let before = client.request else { return }
            let request = before + scratch[..<count]
            self.clients[number]?.request = request
            guard request.ends(with: "\r\n\r\n") else { return }
            try Loopback.send(WebSocketText.answer(to: request), to: client.socket)
            self.clients[number]?.request = nil
            self.audience.append(client.socket)
        }
    }
}
