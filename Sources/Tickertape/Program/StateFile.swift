import Feeds
import NIOConcurrencyHelpers
import Platform

/// A small text file in the state directory, stored for the next start.
///
/// Errors never stop the program: an unreadable file is replaced, and a failed write is reported.
final class StateFile: Sendable {
    /// A text that is not written yet.
    private struct Waiting {
        /// Returns the text; `nil` while it cannot be written. Runs on the file's thread.
        var text: @Sendable () -> String?
        var failed: @Sendable (String) -> Void
    }

    private struct State {
        /// The newest text that is not written yet.
        var waiting: Waiting?
        var isWriting = false
    }

    private let folder: PrivateFolder
    private let name: String
    private let limit: Int
    private let loss: String
    private let warn: @Sendable (String) -> Void
    private let state = NIOLockedValueBox(State())
    private let disk: WorkQueue

    /// - Parameters:
    ///   - directory: the state directory. It is created if it is missing.
    ///   - limit: the largest size of the file, in bytes.
    ///   - loss: what a failed write means, in words: `the watchlist is not kept`.
    ///   - warn: receives one line for each problem, on any thread.
    /// - Returns: `nil` when no file can be kept in the directory, after a warning.
    init?(
        _ name: String,
        in directory: String,
        limit: Int,
        loss: String,
        warn: @escaping @Sendable (String) -> Void
    ) {
        do throws(PrivateFolder.Failure) {
            self.folder = try PrivateFolder(directory)
        } catch {
            warn("\(loss): \(error.reason) (state.directory)")
            return nil
        }
        self.name = name
        self.limit = limit
        self.loss = loss
        self.warn = warn
        self.disk = WorkQueue(name)
    }

    var path: String { "\(self.folder.path)/\(self.name)" }

    /// Returns the file's contents; `nil` without a file, and after a warning where the file is unusable.
    func load<Contents>(_ parse: (String) -> Contents?) -> Contents? {
        self.folder.load(self.name, limit: self.limit, warn: self.warn, parse)
    }

    /// Writes a text in place of the ones that are not written yet. May be called on any thread; never blocks.
    ///
    /// - Parameters:
    ///   - failed: receives one line about a failure, on another thread.
    ///   - text: returns the text, on another thread. Where it returns `nil`, the text waits for the next call of this
    ///     method or of ``settle(within:)``.
    func keep(failed: @escaping @Sendable (String) -> Void, _ text: @escaping @Sendable () -> String?) {
        self.state.withLockedValue { $0.waiting = Waiting(text: text, failed: failed) }
        self.startWriting()
    }

    /// Waits until everything is written, for at most `limit`.
    func settle(within limit: Duration) async {
        self.startWriting()
        _ = await self.disk.answer(within: limit) {}
    }

    private func startWriting() {
        let mustStart = self.state.withLockedValue { state in
            guard state.waiting != nil, !state.isWriting else { return false }
            state.isWriting = true
            return true
        }
        if mustStart { self.disk.submit { self.writeAll() } }
    }

    private func writeAll() {
        while let next = self.takeWaiting() {
            guard let text = next.text() else {
                return self.state.withLockedValue { state in
                    state.waiting = state.waiting ?? next
                    state.isWriting = false
                }
            }
            if let problem = self.write(text) { next.failed(problem) }
        }
    }

    private func takeWaiting() -> Waiting? {
        self.state.withLockedValue { state in
            if state.waiting == nil { state.isWriting = false }
            return state.waiting.take()
        }
    }

    /// Writes a text. Returns `nil`, or the reason for a failure in one line. Blocks on the disk.
    func write(_ text: String) -> String? {
        do throws(PrivateFolder.Failure) {
            try self.folder.replace(self.name, with: text)
            return nil
        } catch {
            return "\(self.path) cannot be written, so \(self.loss): \(error.reason)"
        }
    }
}
