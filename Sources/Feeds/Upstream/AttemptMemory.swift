import NIOCore

/// The file of a key's attempts as the connection has it: asked and answered on the loop, while the disk is waited for
/// elsewhere, and not for ever.
///
/// Where the disk does not answer within ``KeyClaims/limit`` the connection goes on without it, after one line that says what
/// that costs; what the disk says later counts from then on. Belongs to one event loop.
final class AttemptMemory {
    private enum Change {
        case save(SavedBackoff)
        case clear
    }

    private let holding: KeyHolding
    private let loop: any EventLoop
    private let warning: WarnOnce
    private var loads = DiskQuestions<SavedBackoff?>()
    private var writes = DiskQuestions<Void>()
    /// The newest that is to be in the file and is not yet being written.
    private var change: Change?

    init(_ holding: KeyHolding, loop: any EventLoop) {
        self.holding = holding
        self.loop = loop
        self.warning = WarnOnce(holding.warn)
    }

    /// Whether attempts are remembered over a restart.
    var isKept: Bool { self.holding.attemptStore != nil }

    /// What an earlier run left, if anything.
    func load(_ then: @escaping (SavedBackoff?) -> Void) {
        guard let attemptStore = self.holding.attemptStore else { return then(nil) }
        self.loads.add(then, on: self.loop, within: KeyClaims.limit) {
            self.warn()
            return nil
        }
        guard self.loads.begin() else { return }
        self.holding.attemptsDisk.perform(on: self.loop, { attemptStore.load() }) { self.loads.end($0) }
    }

    /// Keeps this, and answers when it is kept.
    func save(_ memory: SavedBackoff, _ then: @escaping () -> Void) {
        guard self.isKept else { return then() }
        self.change = .save(memory)
        self.waitForWriting(within: KeyClaims.limit, then)
        self.write()
    }

    /// Keeps this.
    func save(_ memory: SavedBackoff) {
        guard self.isKept else { return }
        self.change = .save(memory)
        self.write()
    }

    /// Forgets what was kept.
    func clear() {
        guard self.isKept else { return }
        self.change = .clear
        self.write()
    }

    private func waitForWriting(within limit: TimeAmount, _ then: @escaping () -> Void) {
        self.writes.add({ _ in then() }, on: self.loop, within: limit) { self.warn() }
    }

    private func write() {
        guard let attemptStore = self.holding.attemptStore, self.change != nil, self.writes.begin() else { return }
        let change = self.change
        self.change = nil
        let work: @Sendable () -> Void =
            switch change {
            case .save(let memory): { attemptStore.save(memory) }
            case .clear, nil: { attemptStore.clear() }
            }
        self.holding.attemptsDisk.perform(on: self.loop, work) {
            // What came meanwhile is newer: those who wait for it wait on.
            let isNewest = self.change == nil
            self.writes.end((), answers: isNewest)
            if !isNewest { self.write() }
        }
    }

    private func warn() {
        self.warning.notify(
            "attempts may not be remembered over a restart: the disk of the state directory has not answered for "
                + "\(KeyClaims.limit.nanoseconds / 1_000_000_000) s (state.directory)"
        )
    }

    /// Waits for what is being written: whoever takes the key next finds it.
    func close(_ then: @escaping () -> Void) {
        if self.writes.isAsking { self.waitForWriting(within: KeyClaims.closeLimit, then) } else { then() }
    }
}
