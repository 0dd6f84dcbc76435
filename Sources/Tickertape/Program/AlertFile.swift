import Feeds
import Glibc
import Market
import NIOConcurrencyHelpers
import Platform
import Recordings

/// What alerts keep over a restart, as a file in the state directory.
///
/// One program keeps it; another one beside it goes on without, and tries again with each change and at its end. It is never
/// in the way: what cannot be read is replaced, what cannot be written is told once.
final class AlertFile: Sendable {
    private static let name = "alerts"

    private struct State {
        /// The newest that is not written yet.
        var waiting: AlertState?
        var isWriting = false
        var hasWarned = false
        /// The descriptor whose lock says that the file is this program's; -1 while another one has it.
        var lock: Int32 = -1
        /// What another program had kept when this one took over: nothing of it is lost, though it was not watched here.
        var inherited = AlertState()
    }

    private let folder: PrivateFolder
    private let warn: @Sendable (String) -> Void
    private let state = NIOLockedValueBox(State())
    private let disk = WorkQueue("alerts")

    /// - Parameter warn: is told in one line what does not work; from any thread.
    /// - Returns: `nil` when nothing can be kept there, after a warning.
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

    /// Whether the file is this program's, and not another's that runs beside it.
    var isOurs: Bool { self.state.withLockedValue { $0.lock >= 0 } }

    private enum Lock {
        case taken(Int32)
        /// Another program has it.
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

    /// Takes the file over where the program that had it is gone; what that one kept stays. May wait for the disk.
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

    /// What an earlier run left, if anything; also of a program that runs beside this one.
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

    /// Keeps this from now on. From any thread; never waits, the disk is another thread's.
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

    /// Waits until what was kept is written, at most for `limit`.
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
            // It waits for the next attempt.
            self.state.withLockedValue { $0.isWriting = false }
            return
        }
        while true {
            let next = self.state.withLockedValue { state -> AlertState? in
                defer { state.waiting = nil }
                if state.waiting == nil { state.isWriting = false }
                guard let own = state.waiting else { return nil }
                let both = own.with(state.inherited)
                // What has once been of this program is its own to remove.
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
    /// This memory with what another has of other rules, as far as a memory reaches.
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
