/// The protocols that the relay speaks; the only place that names them.
enum RelayProtocols {
    static var all: [any RelayProtocol.Type] { [TradesClient.self, StreamClient.self] }

    /// Returns the protocol at a path.
    static func at(_ path: some StringProtocol) -> (any RelayProtocol.Type)? { self.all.first { $0.path == path } }
}
