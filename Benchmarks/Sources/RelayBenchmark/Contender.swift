import Glibc

/// A measured relay: the program, or a peer that `Benchmarks/run` has built.
enum Contender: String, CaseIterable {
    /// The C program that only receives and sends; all ratios are relative to it.
    case floor
    /// uWebSockets (C++), the library in PyPI's socketify.
    case uWebSockets
    case tickertape

    /// The files that the peers' folder must hold for it.
    fileprivate var files: [String] {
        switch self {
        case .floor: ["floor"]
        case .uWebSockets: ["uws", "libsocketify.so"]
        case .tickertape: []
        }
    }
}

extension Workbench {
    /// Returns the available relays, the reference first; reports those that are missing.
    func contenders() throws -> [Contender] {
        try Contender.allCases.filter { contender in
            let missing = contender.files.first { access(self.peer($0), R_OK) != 0 }
            guard let missing else { return true }
            guard contender != .floor else {
                throw BenchmarkFailure("\(self.peer(missing)) is missing: Benchmarks/run builds it")
            }
            Workbench.say("\(contender.rawValue) is left out: \(self.peer(missing)) is missing")
            return false
        }
    }

    /// Starts a relay for this number of clients.
    func start(_ contender: Contender, upstream: FakeFinnhub, port: Int, clients: Int) throws -> ChildProcess {
        let ports = ["\(upstream.port)", "\(port)"]
        switch contender {
        case .floor:
            return try self.start(self.peer("floor"), ports)
        case .uWebSockets:
            return try self.start(self.peer("uws"), [self.peer("libsocketify.so")] + ports)
        case .tickertape:
            let limit = "relay.max-clients=\(max(clients, 1_000))"
            return try self.startProgram(
                upstream: upstream,
                ["--quiet", "--relay", "127.0.0.1:\(port)", "--set", limit]
            )
        }
    }

    private func peer(_ name: String) -> String { "\(self.options.peers)/\(name)" }
}
