import MockUpstream

/// What a program plays instead of following the market.
struct PlayedMaterial {
    let mockServer: MockServer
    /// Commands the player.
    let remote: ReplayRemote?
    /// Whether it begins with the relay's first subscribed client.
    let waitsForClient: Bool
    /// The symbols to offer at a screen.
    let symbols: [String]
    /// All symbols, where it is certain that there are no others.
    let allSymbols: Set<String>?
    /// What it is called in messages.
    let name: String

    init(_ material: ReplayMaterial, mockServer: MockServer, waitsForClient: Bool = false) {
        self.mockServer = mockServer
        self.remote = mockServer.remote
        self.waitsForClient = waitsForClient
        switch material {
        case .recording(let file):
            self.symbols = file.symbols
            self.allSymbols = file.allSymbols
            self.name = "the recording"
        case .market(let run):
            self.symbols = run.market.symbols.map(\.name)
            self.allSymbols = Set(self.symbols)
            self.name = "the simulated market"
        }
    }
}
