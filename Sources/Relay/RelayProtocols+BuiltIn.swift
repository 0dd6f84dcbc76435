extension RelayProtocols {
    /// The protocols of this program's relay; the only place that names them.
    package static var builtIn: RelayProtocols { RelayProtocols(all: [TradesClient.self, StreamClient.self]) }
}
