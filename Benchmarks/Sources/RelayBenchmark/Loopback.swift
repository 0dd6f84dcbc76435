import Glibc

/// TCP on 127.0.0.1 by system calls, so that the load costs as little as possible beside the measured program.
enum Loopback {
    /// The result of a read.
    enum Reception {
        case bytes(Int)
        case nothing
        case closed
    }

    private static let anyTime = timeval(tv_sec: 10, tv_usec: 0)

    /// Listens on `port`; 0 takes a free one.
    static func listen(port: Int) throws -> Int32 {
        let descriptor = try Self.socket()
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = Self.address(port: port)
        guard Self.withAddress(&address, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 4_096) == 0 else {
            throw BenchmarkFailure.call("listen on port \(port)")
        }
        return descriptor
    }

    /// Returns the port of a listening socket.
    static func port(of descriptor: Int32) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Returns a port that was free at the call.
    static func freePort() throws -> Int {
        let descriptor = try Self.listen(port: 0)
        defer { close(descriptor) }
        return Self.port(of: descriptor)
    }

    /// Connects without waiting for a listener; `nil` without one.
    static func connect(port: Int) throws -> Int32? {
        let descriptor = try Self.socket()
        var address = Self.address(port: port)
        guard Self.withAddress(&address, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return nil
        }
        Self.setNoDelay(descriptor)
        return descriptor
    }

    /// Connects as soon as the program listens, within 20 s, since a busy machine starts a program slowly.
    static func connect(port: Int, to process: ChildProcess) throws -> Int32 {
        let limit = Clock.now() + 20 * Clock.second
        while Clock.now() < limit {
            if let descriptor = try Self.connect(port: port) { return descriptor }
            guard process.isRunning else { throw BenchmarkFailure("\(process.name) has ended: \(process.errors)") }
            Clock.pause(milliseconds: 5)
        }
        throw BenchmarkFailure("\(process.name) does not listen: \(process.errors)")
    }

    /// Accepts a connection within `seconds`.
    static func accept(_ listener: Int32, seconds: Int) throws -> Int32 {
        guard Self.isReadable(listener, seconds: seconds) else { throw BenchmarkFailure("nobody connects") }
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { throw BenchmarkFailure.call("accept") }
        Self.setNoDelay(descriptor)
        return descriptor
    }

    static func isReadable(_ descriptor: Int32, seconds: Int) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, Int32(seconds * 1_000)) > 0
    }

    /// Reads the available bytes without blocking.
    static func receive(_ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer) -> Reception {
        let count = recv(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
        if count > 0 { return .bytes(count) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .closed
    }

    /// Sends all bytes. It blocks while the peer does not read, for at most 10 s at a time.
    static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.send(descriptor, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { throw BenchmarkFailure.call("send") }
            rest = rest.dropFirst(count)
        }
    }

    static func send(_ bytes: [UInt8], to descriptor: Int32) throws {
        try bytes.withUnsafeBytes { try Self.send($0, to: descriptor) }
    }

    private static func socket() throws -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw BenchmarkFailure.call("socket") }
        return descriptor
    }

    private static func setNoDelay(_ descriptor: Int32) {
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var limit = Self.anyTime
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return address
    }

    private static func withAddress(
        _ address: inout sockaddr_in,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
