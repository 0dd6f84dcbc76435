import MockUpstream

/// The material that a program plays instead of following the market.
struct PlayedMaterial {
    let mockServer: MockServer
    /// The interface to the player's commands.
    let remote: ReplayRemote?
    /// Whether the replay starts with the relay's first subscribed client.
    let waitsForClient: Bool
    /// The symbols that the screen offers.
    let symbols: [String]
    /// The complete set of symbols; `nil` if there may be others.
    let allSymbols: Set<String>?
    /// The material's name in messages.
    let name: String
    /// The path of a recording; `nil` for a simulated market, which needs no disk.
    let path: String?

    init(_ material: ReplayMaterial, mockServer: MockServer, waitsForClient: Bool = false) {
        self.mockServer = mockServer
        self.remote = mockServer.remote
        self.waitsForClient = waitsForClient
        switch material {
        case .recording(let file):
            self.symbols = file.symbols
            self.allSymbols = file.allSymbols
            self.name = "the recording"
            self.path = file.path
        case .market(let run):
            self.symbols = run.market.symbols.map(\.name)
            self.allSymbols = Set(self.symbols)
            self.name = "the simulated market"
            self.path = nil
        }
    }

    /// Returns the watch over the recording's disk; `nil` for a simulated market.
    func diskWatch(warn: @escaping @Sendable (String) -> Void) -> RecordingDiskWatch? {
        self.path.map { RecordingDiskWatch(path: $0, mockServer: self.mockServer, warn: warn) }
    }
}
