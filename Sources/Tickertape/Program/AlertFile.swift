import Glibc
import Market
import NIOConcurrencyHelpers

/// The state of alerts across restarts, as a ``StateFile``.
///
/// One program at a time owns the file. Another one runs without it, and tries to take it over with each change and at
/// its end. A failed write is reported once.
final class AlertFile: Sendable {
    private struct State {
        var hasWarned = false
        /// The descriptor with the file's lock; -1 while another program has the lock.
        var lock: Int32 = -1
        /// The state of the program that owned the file before this one. It is merged into every write, so that its
        /// alerts survive although they were not evaluated here.
        var inherited = AlertState()
    }

    private let file: StateFile
    private let warn: @Sendable (String) -> Void
    private let state = NIOLockedValueBox(State())

    /// - Parameter warn: receives one line for each problem, on any thread.
    /// - Returns: `nil` when no file can be kept in the folder, after a warning.
    init?(directory path: String, warn: @escaping @Sendable (String) -> Void) {
        let loss = "alerts are not kept over a restart"
        guard
            let file = StateFile("alerts", in: path, limit: AlertState.maximumBytes, loss: loss, warn: warn)
        else { return nil }
        self.file = file
        self.warn = warn
        switch Self.take(file.path) {
        case .taken(let lock): self.state.withLockedValue { $0.lock = lock }
        case .others: break
        case .failed(let reason):
            warn("\(loss): \(reason) (state.directory)")
            return nil
        }
    }

    deinit { close(self.state.withLockedValue { $0.lock }) }

    /// Whether this program owns the file.
    var isOurs: Bool { self.state.withLockedValue { $0.lock >= 0 } }

    private enum Lock {
        case taken(Int32)
        /// Another program has the lock.
        case others
        case failed(String)
    }

    private static func take(_ path: String) -> Lock {
        let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard lock >= 0 else { return .failed(String(cString: strerror(errno))) }
        if flock(lock, LOCK_EX | LOCK_NB) == 0 { return .taken(lock) }
        let number = errno
        close(lock)
        return number == EWOULDBLOCK ? .others : .failed(String(cString: strerror(number)))
    }

    /// Takes the file over if its owner has ended, and inherits that program's state. Blocks on the disk.
    private func takeOver() -> Bool {
        if self.isOurs { return true }
        guard case .taken(let lock) = Self.take(self.file.path) else { return false }
        let kept = self.load() ?? AlertState()
        self.state.withLockedValue { state in
            state.lock = lock
            state.inherited = kept
        }
        return true
    }

    /// Returns the stored state, if any; a running program may own it.
    func load() -> AlertState? { self.file.load { AlertState(text: $0) } }

    /// Stores a state. May be called on any thread; never blocks, since another thread writes.
    func keep(_ memory: AlertState) {
        self.file.keep { [self] problem in
            if self.isFirstFailure() { self.warn(problem) }
        } _: { [self] in
            self.takeOver() ? self.merging(memory).text : nil
        }
    }

    /// Waits until the state is written, for at most `limit`.
    func settle(atMost limit: Duration) async { await self.file.settle(within: limit) }

    private func isFirstFailure() -> Bool {
        self.state.withLockedValue { state in
            defer { state.hasWarned = true }
            return !state.hasWarned
        }
    }

    /// Returns a state together with the inherited one.
    private func merging(_ own: AlertState) -> AlertState {
        self.state.withLockedValue { state in
            let both = own.with(state.inherited)
            // An inherited rule that this program also had is no longer inherited, so that its removal here is final.
            state.inherited.forget(own.rules)
            return both
        }
    }
}

extension AlertState {
    /// Returns this state, with the rules and the alert states of another one that this one does not have.
    fileprivate func with(_ other: AlertState) -> AlertState {
        var both = self
        both.rules += other.rules.filter { !self.rules.contains($0) }
        let known = Set(self.states.map { [$0.rule, $0.symbol] })
        both.states += other.states.filter { !known.contains([$0.rule, $0.symbol]) }
        return both
    }

    fileprivate mutating func forget(_ rules: [String]) {
        self.rules.removeAll { rules.contains($0) }
        self.states.removeAll { rules.contains($0.rule) }
    }
}
