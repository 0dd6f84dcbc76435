import Feeds
import Glibc
import Market
import NIOConcurrencyHelpers
import NIOPosix

/// What alerts keep over a restart, as a file in the state directory.
///
/// One program keeps it; another one beside it goes on without. It is never in the way: what cannot be read is replaced,
/// what cannot be written is told once.
final class AlertFile: Sendable {
    private static let name = "alerts"

    private struct State {
        /// The newest that is not written yet.
        var waiting: AlertMemory?
        var isWriting = false
        var hasWarned = false
    }

    private let folder: PrivateFolder
    private let lock: Int32
    private let warn: @Sendable (String) -> Void
    private let state = NIOLockedValueBox(State())

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
        self.lock = open(
            "\(path)/\(Self.name).lock",
            O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
            0o600
        )
        guard self.lock >= 0, flock(self.lock, LOCK_EX | LOCK_NB) == 0 else {
            let isTaken = self.lock >= 0 && errno == EWOULDBLOCK
            let reason = isTaken ? "another tickertape keeps its own" : String(cString: strerror(errno))
            warn("alerts are not kept over a restart: \(reason)")
            return nil
        }
    }

    deinit { close(self.lock) }

    /// What an earlier run left, if anything.
    func load() -> AlertMemory? {
        let reason: String
        do throws(PrivateFolder.Failure) {
            guard let text = try self.folder.read(Self.name, limit: AlertMemory.mostBytes) else { return nil }
            if let memory = AlertMemory(text: text) { return memory }
            reason = "it is damaged or of another version"
        } catch {
            reason = error.reason
        }
        self.warn("\(self.folder.path)/\(Self.name) cannot be used and is replaced: \(reason)")
        return nil
    }

    /// Keeps this from now on. From any thread; never waits, the disk is another thread's.
    func keep(_ memory: AlertMemory) {
        let mustStart = self.state.withLockedValue { state in
            state.waiting = memory
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard mustStart else { return }
        NIOThreadPool.singleton.submit { _ in self.writeAll() }
    }

    /// Waits until what was kept is written, at most for `limit`.
    func settle(atMost limit: Duration) async {
        let start = ContinuousClock.now
        while self.state.withLockedValue({ $0.isWriting }), ContinuousClock.now - start < limit {
            try? await Task.sleep(for: .milliseconds(5))
            if Task.isCancelled { return }
        }
    }

    private func writeAll() {
        while true {
            let next = self.state.withLockedValue { state -> AlertMemory? in
                defer { state.waiting = nil }
                if state.waiting == nil { state.isWriting = false }
                return state.waiting
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
