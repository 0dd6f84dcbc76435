extension RelayProtocols {
    /// The protocols of this program's relay; the only place that names them.
    package static func builtIn(_ settings: RelaySettings) -> RelayProtocols {
        let all: [any RelayProtocol.Type] = [
            TradesClient.self, StreamClient.self, LineClient.self, WAMPClient.self, RoomClient.self,
        ]
        return RelayProtocols(all: all.filter { $0.isOn(settings) })
    }
}
