import HTTP
import Glibc

/// A listening socket that the program inherited, as from a systemd socket unit (sd_listen_fds(3)).
///
/// The socket stays open in the service manager between two runs of the program. Clients that connect in between wait
/// in its backlog and are not refused.
struct InheritedSocket: Sendable, Equatable {
    enum Place: Sendable, Equatable {
        case internet(Endpoint)
        /// The path of a Unix socket; empty for one without a file.
        case file(String)
    }

    /// The inherited descriptors, as the environment describes them.
    struct Offer: Sendable, Equatable {
        var descriptors: Range<Int32>
        /// The names of the descriptors, one for each, or empty.
        var names: [String]
    }

    /// The first inherited descriptor (`SD_LISTEN_FDS_START`).
    private static let firstDescriptor: Int32 = 3
    /// The name of the relay's socket among several (`FileDescriptorName=`).
    static let name = "relay"
    private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]

    let descriptor: Int32
    let place: Place

    /// Takes the relay's socket from the environment; `nil` if no socket was passed.
    ///
    /// The variables are removed, so that no child process takes the socket for its own.
    ///
    /// - Throws: ``OperatorError`` when the relay cannot listen on what was passed.
    static func take(_ environment: ProcessEnvironment = .current) throws(OperatorError) -> InheritedSocket? {
        let offer = try Self.offer(environment)
        for name in Self.variables { unsetenv(name) }
        guard let offer else { return nil }
        for descriptor in offer.descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let descriptor = try Self.choose(offer)
        return InheritedSocket(descriptor: descriptor, place: try Self.check(descriptor))
    }

    /// Parses the variables; `nil` if they are absent or meant for another process.
    static func offer(_ environment: ProcessEnvironment) throws(OperatorError) -> Offer? {
        guard let process = environment.variable("LISTEN_PID"), process == "\(environment.processID)",
            let count = environment.variable("LISTEN_FDS")
        else { return nil }
        guard let count = Int32(count), (0...1_000).contains(count) else {
            throw OperatorError(
                "LISTEN_FDS is not a number of sockets; start the program by a socket unit",
                status: .configuration
            )
        }
        guard count > 0 else { return nil }
        let names = environment.variable("LISTEN_FDNAMES").map {
            $0.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        }
        return Offer(
            descriptors: Self.firstDescriptor..<Self.firstDescriptor + count,
            names: names.flatMap { $0.count == Int(count) ? $0 : nil } ?? []
        )
    }

    /// Returns the descriptor with the relay's name, or the only one.
    static func choose(_ offer: Offer) throws(OperatorError) -> Int32 {
        let named = offer.names.indices.filter { offer.names[$0] == Self.name }
        if named.count == 1 { return offer.descriptors.lowerBound + Int32(named[0]) }
        if named.isEmpty, offer.descriptors.count == 1 { return offer.descriptors.lowerBound }
        throw OperatorError(
            "\(offer.descriptors.count) sockets were passed to the program, and the relay listens on one: name that one "
                + "FileDescriptorName=\(Self.name) in its socket unit",
            status: .configuration
        )
    }

    /// Returns the local address of a descriptor.
    ///
    /// - Throws: ``OperatorError`` when it is not a listening stream socket.
    private static func check(_ descriptor: Int32) throws(OperatorError) -> Place {
        func refused(_ what: String) -> OperatorError {
            OperatorError(
                "descriptor \(descriptor), which was passed to the program, \(what): use ListenStream= and Accept=no in its "
                    + "socket unit",
                status: .configuration
            )
        }
        guard Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue) else {
            throw refused("is not a stream socket")
        }
        guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1 else { throw refused("does not listen") }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isNamed = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        guard isNamed, let place = Self.place(of: &storage, length: Int(length)) else {
            throw refused("is not a TCP or Unix socket")
        }
        return place
    }

    private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
    }

    private static func place(of storage: inout sockaddr_storage, length: Int) -> Place? {
        withUnsafeBytes(of: &storage) { bytes -> Place? in
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            switch Int32(Self.storageFamily(bytes)) {
            case AF_INET:
                var address = bytes.loadUnaligned(as: sockaddr_in.self)
                inet_ntop(AF_INET, &address.sin_addr, &text, socklen_t(text.count))
                return .internet(Endpoint(host: Self.string(text), port: Int(UInt16(bigEndian: address.sin_port))))
            case AF_INET6:
                var address = bytes.loadUnaligned(as: sockaddr_in6.self)
                inet_ntop(AF_INET6, &address.sin6_addr, &text, socklen_t(text.count))
                return .internet(Endpoint(host: Self.string(text), port: Int(UInt16(bigEndian: address.sin6_port))))
            case AF_UNIX:
                let path = bytes[MemoryLayout<sa_family_t>.size..<max(length, MemoryLayout<sa_family_t>.size)]
                return .file(String(decoding: path.prefix { $0 != 0 }, as: UTF8.self))
            default:
                return nil
            }
        }
    }

    private static func storageFamily(_ bytes: UnsafeRawBufferPointer) -> sa_family_t {
        bytes.loadUnaligned(as: sa_family_t.self)
    }

    private static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension InheritedSocket {
    /// Returns the relay's address, and reports a setting that the socket overrides.
    ///
    /// - Parameter isChosen: whether the user has set `relay.listen`.
    func endpoint(listen: Endpoint, isChosen: Bool, notify: (String) -> Void) -> Endpoint {
        guard case .internet(let endpoint) = self.place else { return listen }
        let isSame =
            listen.port == 0 || endpoint == listen || endpoint.port == listen.port && endpoint.isSameHost(as: listen)
        if isChosen, !isSame {
            notify(
                "the socket that was passed to the program listens on \(endpoint), so relay.listen (\(listen)) is not used"
            )
        }
        return endpoint
    }
}

extension Endpoint {
    fileprivate func isSameHost(as other: Endpoint) -> Bool {
        func name(_ host: String) -> String { host.lowercased() == "localhost" ? "127.0.0.1" : host.lowercased() }
        return name(self.host) == name(other.host)
    }
}
