import Foundation
import NIOCore
import NIOPosix
import Testing
import Tickertape
import TickertapeTesting

/// Abuse of the whole program, with a check of the upstream.
@Suite("Abuse of the program", .serialized, .timeLimit(.minutes(2 * Patience.factor)))
struct AbuseProgramTests {
    private static func trade(_ number: Int) -> String {
        #"{"data":[{"c":null,"p":\#(number),"s":"BINANCE:BTCUSDT","t":\#(1_723_161_255_342 + number),"v":0.02}],"type":"trade"}"#
    }

    private static let upgrade =
        "GET /?token=any HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

    /// Starts the program with this upstream; returns it and its relay's port.
    private static func start(_ server: ScriptedFinnhub, maximumFiles: Int) async throws -> (RunningProgram, Int) {
        let program = try RunningProgram(
            "/bin/bash",
            [
                "-c", "ulimit -n \(maximumFiles); exec \"$@\"", "bash", RunningProgram.tickertape, "run", "--upstream",
                "ws://127.0.0.1:\(server.port)", "--relay", "127.0.0.1:0", "--format", "plain",
                "--set", "reconnect.min=10ms",
            ],
            environment: ["FINNHUB_TOKEN": "averysecretkey"]
        )
        return (program, try #require(await program.relayPort(), "\(program.errors)"))
    }

    /// Returns a client of the relay that only reads.
    private func client(_ port: Int) throws -> Socket {
        let socket = try Socket(port: port)
        socket.send(Self.upgrade)
        try #require(socket.waits(for: "\r\n\r\n"))
        socket.send(text: #"{"type":"subscribe","symbol":"BINANCE:BTCUSDT"}"#)
        // Requests are answered in order, so the answer to an invalid one shows that the preceding one was handled.
        socket.send(text: "?")
        try #require(socket.waits(for: "Invalid message"))
        return socket
    }

    @Test("a flood of connections up to the limit of open files disturbs no client, and the upstream can reconnect")
    func descriptors() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let (program, port) = try await Self.start(server, maximumFiles: 128)
        var events = server.events.makeAsyncIterator()
        func next(where isIt: (ScriptedFinnhub.Event) -> Bool) async throws {
            while let event = await events.next() { if isIt(event) { return } }
            Issue.record("the upstream's events have ended")
        }
        try await next { if case .received(0, _) = $0 { true } else { false } }
        let bystanders = try (0..<10).map { _ in try self.client(port) }
        var number = 0
        func tradeReachesAll(on connection: Int) throws {
            number += 1
            let text = Self.trade(number)
            server.send(text, on: connection)
            for client in bystanders { try #require(client.waits(for: text), "trade \(number)") }
        }
        try tradeReachesAll(on: 0)
        // Three times as many connections as descriptors; most send nothing, some send an incomplete request.
        var flood: [Socket] = []
        for index in 0..<400 {
            guard let socket = try? Socket(port: port) else { continue }
            if index % 3 == 0 { socket.send("GET /livez HTTP/1.1\r\nHost: local") }
            flood.append(socket)
            if index % 40 == 0 { try tradeReachesAll(on: 0) }
        }
        #expect(flood.count == 400)
        try tradeReachesAll(on: 0)
        // The flood has left descriptors for the next connection to the upstream.
        server.drop(0)
        try await next { if case .received(1, _) = $0 { true } else { false } }
        for _ in 0..<10 { try tradeReachesAll(on: 1) }
        // A new client is accepted.
        let late = try self.client(port)
        late.close()
        for socket in flood { socket.close() }
        for socket in bystanders { socket.close() }
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        #expect(!program.errors.contains("too many open files"), "\(program.errors)")
        try await server.stop()
    }

    @Test("clients at their limit leave places for /livez, and one client too many is refused with the reason")
    func places() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let (program, port) = try await Self.start(server, maximumFiles: 128)
        var clients: [Socket] = []
        while clients.count < 128 {
            let client = try Socket(port: port)
            client.send(Self.upgrade)
            guard client.waits(for: "HTTP/1.1 101 ") else { break }
            clients.append(client)
        }
        #expect(clients.count > 20 && clients.count < 100, "\(clients.count)")
        for _ in 0..<3 {
            let late = try Socket(port: port)
            late.send(Self.upgrade)
            #expect(late.waits(for: "HTTP/1.1 503 ") && late.waits(for: #"{"type":"too-many-clients","#))
            late.close()
            let probe = try Socket(port: port)
            probe.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(probe.waits(for: "HTTP/1.1 200 "))
            probe.close()
        }
        for client in clients { client.close() }
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        try await server.stop()
    }

    @Test("a client that sends a mebibyte of headers before it reads gets 431 with its JSON line")
    func longRequest() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let (program, port) = try await Self.start(server, maximumFiles: 1_024)
        let bystanders = try (0..<10).map { _ in try self.client(port) }
        for _ in 0..<20 {
            let socket = try Socket(port: port)
            let text =
                "GET / HTTP/1.1\r\nHost: localhost\r\nCookie: " + String(repeating: "x", count: 1 << 20) + "\r\n\r\n"
            // A blocking socket sends everything, unless the connection is reset.
            #expect(socket.send(Array(text.utf8)) == text.utf8.count)
            #expect(socket.waits(for: "HTTP/1.1 431 ") && socket.waits(for: #"{"type":"headers-too-large","#))
            #expect(socket.waits(for: "}\n"))
            socket.close()
        }
        for await case .received(0, _) in server.events { break }
        let text = Self.trade(1)
        server.send(text, on: 0)
        for client in bystanders {
            #expect(client.waits(for: text))
            client.close()
        }
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        try await server.stop()
    }

    @Test("garbage, violations, unread requests and foreign pages do not reach the upstream")
    func upstream() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade(1))]) }
        let (program, port) = try await Self.start(server, maximumFiles: 1_024)
        let upgrade =
            " HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        let request = #"{"type":"subscribe","symbol":"EVIL:EVIL"}"#
        // Refused upgrades, followed by frames in the same write.
        for head in [
            "GET /" + upgrade + "Origin: https://evil.example\r\n\r\n",
            "GET /" + upgrade.replacingOccurrences(of: "127.0.0.1", with: "evil.example") + "\r\n",
            "GET /" + upgrade.replacingOccurrences(of: "13\r\n", with: "12\r\n") + "\r\n", "nonsense\r\n\r\n",
            "POST /" + upgrade + "\r\n", "GET /other" + upgrade + "\r\n",
        ] {
            let socket = try Socket(port: port)
            socket.send(head)
            socket.send(text: request)
            #expect(socket.waits(for: #"{"type":""#), "\(head)")
            socket.close()
        }
        // Accepted upgrades, followed by garbage; the last byte of a valid request is always missing or wrong.
        for frame in [
            Socket.masked(request, first: 0x82), Socket.masked(request, first: 0xC1),
            Socket.masked(request, first: 0x01),
            Socket.masked(String(request.dropLast())), Socket.masked(request + "x"), Socket.masked("[\(request)]"),
            Socket.masked(#"{"type":"subscribe","symbol":"EVIL:EVIL\u0000"}"#),
            Array(Socket.masked(request).dropLast()),
            Array(Socket.masked(request).enumerated().map { $0.offset == 1 ? $0.element & 0x7F : $0.element }),
        ] {
            for path in ["/", "/v1/stream"] {
                let socket = try Socket(port: port)
                socket.send("GET \(path)" + upgrade + "\r\n")
                #expect(socket.waits(for: "\r\n\r\n"))
                socket.send(frame)
                socket.close()
            }
        }
        let honest = try Socket(port: port)
        honest.send("GET /" + upgrade + "\r\n")
        #expect(honest.waits(for: "\r\n\r\n"))
        honest.send(text: #"{"type":"subscribe","symbol":"GOOD:GOOD"}"#)
        var heard: [String] = []
        for await event in server.events {
            guard case .received(_, let text) = event else { continue }
            heard.append(text)
            if text.contains("GOOD:GOOD") { break }
        }
        #expect(heard.count == 2, "\(heard)")
        #expect(heard.first?.contains("BINANCE:BTCUSDT") == true)
        honest.close()
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        try await server.stop()
    }
}

/// A blocking socket to a port of this machine, for arbitrary bytes.
final class Socket {
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private var isOpen = true

    struct Failed: Error {}

    /// - Parameter receiveBuffer: the size of the receive buffer (`SO_RCVBUF`), in bytes; `nil` for the kernel's
    ///   default.
    init(port: Int, receiveBuffer: Int32? = nil) throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiveBuffer {
            setsockopt(self.descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        // The time limit of each operation.
        var patience = timeval(tv_sec: 15 * Patience.factor, tv_usec: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(self.descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            self.close()
            throw Failed()
        }
    }

    deinit { self.close() }

    func close() {
        if self.isOpen { Glibc.close(self.descriptor) }
        self.isOpen = false
    }

    func send(_ text: String) { self.send(Array(text.utf8)) }

    /// Sends the bytes, and returns the number that the kernel accepted.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Int { Glibc.send(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    func send(text: String) { self.send(Self.masked(text)) }

    /// Reads until `text` has arrived, and returns whether it has; discards the bytes before it.
    func waits(for text: String) -> Bool {
        let wanted = Array(text.utf8)
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            if let found = self.bytes.firstRange(of: wanted) {
                self.bytes.removeSubrange(..<found.upperBound)
                return true
            }
            let count = recv(self.descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            self.bytes.append(contentsOf: buffer[..<count])
        }
    }

    /// Reads this many bytes; fewer at the end of the connection.
    func next(_ count: Int) -> String {
        var buffer = [UInt8](repeating: 0, count: count)
        while self.bytes.count < count {
            let more = recv(self.descriptor, &buffer, count - self.bytes.count, 0)
            guard more > 0 else { break }
            self.bytes.append(contentsOf: buffer[..<more])
        }
        defer { self.bytes.removeFirst(min(count, self.bytes.count)) }
        return String(decoding: self.bytes.prefix(count), as: UTF8.self)
    }

    static func masked(_ text: String, first: UInt8 = 0x81) -> [UInt8] {
        let bytes = Array(text.utf8)
        precondition(bytes.count < 126)
        return [first, 0x80 | UInt8(bytes.count), 0, 0, 0, 0] + bytes
    }
}
