import Relay
import ArgumentParser
import Glibc

/// Asks the relay of a running program whether it lives, for container health checks.
struct HealthCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask the relay on this machine whether it lives; exit status 0 when it does.",
        shouldDisplay: false
    )

    @OptionGroup var relay: RelayOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.relay, self.common] }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        let relay = settings.relay
        guard let place = relay.listen.map({ .endpoint($0.fromHere) }) ?? relay.unixSocket.map(HealthProbe.Place.file)
        else {
            Console.print("nothing to ask: the relay is off")
            return
        }
        do throws(HealthProbe.Failure) {
            let line: String
            if case .endpoint(let endpoint) = place, settings.relayFiles.certificate != nil {
                let probe = EncryptedHealthProbe(endpoint: endpoint, ciphers: settings.dial.tls.ciphers, limit: 3_000)
                line = try await probe.statusLine()
            } else {
                line = try HealthProbe(place: place, limit: 3_000).statusLine()
            }
            Console.print(line)
        } catch {
            throw OperatorError("the relay at \(place) \(error.reason)", status: .failure)
        }
    }
}

/// One `GET /livez` over a plain socket: a health check runs every few seconds, and must not start an event loop.
struct HealthProbe {
    /// What is wrong with the relay, as the end of a sentence that begins with its address.
    struct Failure: Error {
        let reason: String
    }

    /// Where the relay is to be asked. It wants no token for this question.
    enum Place: CustomStringConvertible {
        /// An address of this machine, or `localhost`.
        case endpoint(Endpoint)
        /// A socket file.
        case file(String)

        var description: String {
            switch self {
            case .endpoint(let endpoint): "\(endpoint)"
            case .file(let path): path
            }
        }

        /// The `Host` header's value.
        fileprivate var host: String {
            switch self {
            case .endpoint(let endpoint): "\(endpoint)"
            case .file: "localhost"
            }
        }
    }

    let place: Place
    /// How long everything may take together, in milliseconds.
    let limit: Int64

    /// The status line of a good answer; anything else is thrown.
    func statusLine() throws(Failure) -> String {
        let deadline = Self.now() + self.limit
        let descriptor = try self.connect(deadline)
        defer { close(descriptor) }
        let request = Array("GET /livez HTTP/1.1\r\nHost: \(self.place.host)\r\nConnection: close\r\n\r\n".utf8)
        // So few bytes always fit into a new socket's buffer.
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw Self.failed("cannot be asked")
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 512)
        while !answer.contains(UInt8(ascii: "\n")) && answer.count < 1_024 {
            try Self.wait(descriptor, for: POLLIN, until: deadline)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { break }
            guard count > 0 else { throw Self.failed("broke off") }
            answer.append(contentsOf: buffer[..<count])
        }
        let line = String(decoding: answer.prefix { $0 >= 0x20 && $0 < 0x7f }, as: UTF8.self)
        guard line.hasPrefix("HTTP/1.1 200") else {
            // So answers a relay that speaks TLS.
            let cure = line.hasPrefix("HTTP/1.1 400") ? "; if it speaks TLS, set relay.certificate-file here, too" : ""
            throw Failure(reason: "does not answer as a relay does: \"\(line.prefix(80))\"\(cure)")
        }
        return line
    }

    private func connect(_ deadline: Int64) throws(Failure) -> Int32 {
        let family =
            switch self.place {
            case .endpoint(let endpoint): endpoint.host.contains(":") ? AF_INET6 : AF_INET
            case .file: AF_UNIX
            }
        let descriptor = socket(
            family,
            Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue),
            0
        )
        guard descriptor >= 0 else { throw Self.failed("cannot be asked") }
        let result: Int32
        switch self.place {
        case .endpoint(let endpoint) where family == AF_INET6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(UInt16(truncatingIfNeeded: endpoint.port).bigEndian)
            inet_pton(AF_INET6, endpoint.host, &address.sin6_addr)
            result = withUnsafePointer(to: &address) { Self.connect(descriptor, $0) }
        case .endpoint(let endpoint):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(UInt16(truncatingIfNeeded: endpoint.port).bigEndian)
            // A name other than `localhost` is this machine's own, and stands for the loopback address here.
            if inet_pton(AF_INET, endpoint.host, &address.sin_addr) != 1 {
                inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
            }
            result = withUnsafePointer(to: &address) { Self.connect(descriptor, $0) }
        case .file(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.dropLast().copyBytes(from: path.utf8.prefix(107)) }
            result = withUnsafePointer(to: &address) { Self.connect(descriptor, $0) }
        }
        do throws(Failure) {
            if result != 0 {
                guard errno == EINPROGRESS else { throw Self.failed("cannot be reached") }
                try Self.wait(descriptor, for: POLLOUT, until: deadline)
                var error: Int32 = 0
                var length = socklen_t(MemoryLayout<Int32>.size)
                getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
                guard error == 0 else {
                    throw Failure(reason: "cannot be reached: \(String(cString: strerror(error)))")
                }
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: UnsafePointer<Address>) -> Int32 {
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
        }
    }

    private static func wait(_ descriptor: Int32, for event: Int32, until deadline: Int64) throws(Failure) {
        var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        while true {
            let left = deadline - self.now()
            guard left > 0 else { throw Failure(reason: "does not answer in time") }
            let count = poll(&request, 1, Int32(left))
            if count > 0 { return }
            if count < 0 && errno != EINTR { throw self.failed("cannot be asked") }
        }
    }

    private static func failed(_ what: String) -> Failure {
        Failure(reason: "\(what): \(String(cString: strerror(errno)))")
    }

    /// Monotonic milliseconds.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
