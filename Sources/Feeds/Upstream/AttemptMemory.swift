import NIOCore

/// The file of a key's attempts, as its connection uses it: questions and answers stay on the loop, the disk works
/// elsewhere, and no wait for it is unlimited.
///
/// If the disk does not answer within ``KeyClaims/limit``, the connection continues without it, after one warning that
/// names the consequence. A late answer is kept for later questions. Belongs to one event loop.
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
    /// The newest change that is not being written yet.
    private var change: Change?

    init(_ holding: KeyHolding, loop: any EventLoop) {
        self.holding = holding
        self.loop = loop
        self.warning = WarnOnce(holding.warn)
    }

    /// Whether attempts are remembered across a restart.
    var isKept: Bool { self.holding.attemptStore != nil }

    /// Loads what an earlier run saved, if anything.
    func load(_ then: @escaping (SavedBackoff?) -> Void) {
        guard let attemptStore = self.holding.attemptStore else { return then(nil) }
        self.loads.add(then, on: self.loop, within: KeyClaims.limit) {
            self.warn()
            return nil
        }
        guard self.loads.begin() else { return }
        self.holding.attemptsDisk.perform(on: self.loop, { attemptStore.load() }) { self.loads.end($0) }
    }

    /// Saves the memory; calls `then` when it is on disk, or when the limit has passed.
    func save(_ memory: SavedBackoff, _ then: @escaping () -> Void) {
        guard self.isKept else { return then() }
        self.change = .save(memory)
        self.waitForWriting(within: KeyClaims.limit, then)
        self.write()
    }

    /// Saves the memory without waiting.
    func save(_ memory: SavedBackoff) {
        guard self.isKept else { return }
        self.change = .save(memory)
        self.write()
    }

    /// Clears the file.
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
            // A change that came meanwhile is newer: those who wait for it keep waiting.
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

    /// Waits for a write under way, so that the next program with the key finds its result.
    func close(_ then: @escaping () -> Void) {
        if self.writes.isAsking { self.waitForWriting(within: KeyClaims.closeLimit, then) } else { then() }
    }
}
