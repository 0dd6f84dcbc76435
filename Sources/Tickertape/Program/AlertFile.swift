import Feeds
import Glibc
import Market
import NIOConcurrencyHelpers
import Platform
import Recordings

/// The state of alerts across restarts, as a file in the state directory.
///
/// One program at a time owns the file. Another one runs without it, and tries to take it over with each change and at
/// its end. Errors never stop the program: an unreadable file is replaced, and a failed write is reported once.
final class AlertFile: Sendable {
    private static let name = "alerts"

    private struct State {
        /// The newest state that is not written yet.
        var waiting: AlertState?
        var isWriting = false
        var hasWarned = false
        /// The descriptor with the file's lock; -1 while another program has the lock.
        var lock: Int32 = -1
        /// The state of the program that owned the file before this one. It is merged into every write, so that its
        /// alerts survive although they were not evaluated here.
        var inherited = AlertState()
    }

    private let folder: PrivateFolder
    private let warn: @Sendable (String) -> Void
    private let state = NIOLockedValueBox(State())
    private let disk = WorkQueue("alerts")

    /// - Parameter warn: receives one line for each problem, on any thread.
    /// - Returns: `nil` when no file can be kept in the folder, after a warning.
    init?(directory path: String, warn: @escaping @Sendable (String) -> Void) {
        self.warn = warn
        do throws(PrivateFolder.Failure) {
            self.folder = try PrivateFolder(path)
        } catch {
            warn("alerts are not kept over a restart: \(error.reason) (state.directory)")
            return nil
        }
        switch Self.take(path) {
        case .taken(let lock): self.state.withLockedValue { $0.lock = lock }
        case .others: break
        case .failed(let reason):
            warn("alerts are not kept over a restart: \(reason) (state.directory)")
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
        let lock = open("\(path)/\(Self.name).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard lock >= 0 else { return .failed(String(cString: strerror(errno))) }
        if flock(lock, LOCK_EX | LOCK_NB) == 0 { return .taken(lock) }
        let number = errno
        close(lock)
        return number == EWOULDBLOCK ? .others : .failed(String(cString: strerror(number)))
    }

    /// Takes the file over if its owner has ended, and inherits that program's state. Blocks on the disk.
    private func takeOver() -> Bool {
        if self.isOurs { return true }
        guard case .taken(let lock) = Self.take(self.folder.path) else { return false }
        let kept = self.load() ?? AlertState()
        self.state.withLockedValue { state in
            state.lock = lock
            state.inherited = kept
        }
        return true
    }

    /// Returns the stored state, if any; a running program may own it.
    func load() -> AlertState? {
        let reason: String
        do throws(PrivateFolder.Failure) {
            guard let text = try self.folder.read(Self.name, limit: AlertState.maximumBytes) else { return nil }
            if let memory = AlertState(text: text) { return memory }
            reason = "it is damaged or of another version"
        } catch {
            reason = error.reason
        }
        self.warn("\(self.folder.path)/\(Self.name) cannot be used and is replaced: \(reason)")
        return nil
    }

    /// Stores a state. May be called on any thread; never blocks, since another thread writes.
    func keep(_ memory: AlertState) {
        self.state.withLockedValue { $0.waiting = memory }
        self.startWriting()
    }

    private func startWriting() {
        let mustStart = self.state.withLockedValue { state in
            guard state.waiting != nil, !state.isWriting else { return false }
            state.isWriting = true
            return true
        }
        guard mustStart else { return }
        self.disk.submit { self.writeAll() }
    }

    /// Waits until the state is written, for at most `limit`.
    func settle(atMost limit: Duration) async {
        self.startWriting()
        let start = ContinuousClock.now
        while self.state.withLockedValue({ $0.isWriting }), ContinuousClock.now - start < limit {
            try? await Task.sleep(for: .milliseconds(5))
            if Task.isCancelled { return }
        }
    }

    private func writeAll() {
        guard self.takeOver() else {
            // The state waits for the next attempt.
            self.state.withLockedValue { $0.isWriting = false }
            return
        }
        while true {
            let next = self.state.withLockedValue { state -> AlertState? in
                defer { state.waiting = nil }
                if state.waiting == nil { state.isWriting = false }
                guard let own = state.waiting else { return nil }
                let both = own.with(state.inherited)
                // An inherited rule that this program also had is no longer inherited, so that its removal here is
                // final.
                state.inherited.forget(own.rules)
                return both
            }
            guard let next else { return }
            do throws(PrivateFolder.Failure) {
                try self.folder.replace(Self.name, with: next.text)
            } catch {
                let isFirst = self.state.withLockedValue { state in
                    defer { state.hasWarned = true }
                    return !state.hasWarned
                }
                if isFirst { self.warn("\(self.folder.path)/\(Self.name) cannot be written: \(error.reason)") }
            }
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
