import Glibc
import Market
import NIOConcurrencyHelpers
import NIOCore
import Platform
import ServiceLifecycle
import Wire

/// The reporter of the program's state to the service manager (sd_notify(3)). Without a manager it does nothing.
///
/// It also reads the tape, since `systemctl status` shows the feed's state.
final class ServiceManager: TapeReader {
    /// The address of the manager's socket. A leading NUL marks the abstract namespace.
    private let address: [UInt8]?
    /// The interval of watchdog messages; `nil` without a watchdog.
    let watchdogInterval: Duration?
    /// Sends the feed's states: the kernel looks up the socket's path, and may wait for a disk.
    private let worker: any DiskWorker
    /// The newest state that was not sent yet.
    private let unsent = NIOLockedValueBox<FeedStatus?>(nil)

    init(_ environment: ProcessEnvironment = .current, worker: any DiskWorker = WorkQueue("notify")) {
        self.worker = worker
        self.address = environment.variable("NOTIFY_SOCKET").flatMap { text in
            var bytes = Array(text.utf8)
            // A file's path or an abstract name; other address families (vsock) need more than a datagram.
            guard let first = bytes.first, bytes.count < 107 else { return nil }
            if first == UInt8(ascii: "@") { bytes[0] = 0 } else if first != UInt8(ascii: "/") { return nil }
            return bytes
        }
        let isMeant = environment.variable("WATCHDOG_PID").map { $0 == "\(environment.processID)" } ?? true
        let microseconds = environment.variable("WATCHDOG_USEC").flatMap(Int64.init) ?? 0
        // Half the requested interval, so that one late message does not end the program (sd_watchdog_enabled(3)).
        self.watchdogInterval = isMeant && microseconds > 0 ? .microseconds(max(microseconds / 2, 1_000)) : nil
    }

    /// Whether there is a service manager.
    var isThere: Bool { self.address != nil }

    /// Sends assignments such as `READY=1` to the manager. It does not wait for the manager, and a message that the
    /// manager cannot take is lost.
    func notify(_ assignments: String...) {
        guard let address = self.address else { return }
        _ = LocalDatagram.send(Array(assignments.joined(separator: "\n").utf8), to: address, waits: false)
    }

    func read(_ batch: TapeBatch) {}

    func gapFound(_ gap: Gap) {}

    /// Sends a state off the feed's loop; of several that wait, the newest.
    func statusChanged(_ status: FeedStatus) {
        guard self.isThere else { return }
        let isPending = self.unsent.withLockedValue { unsent in
            defer { unsent = status }
            return unsent != nil
        }
        guard !isPending else { return }
        self.worker.submit {
            let newest = self.unsent.withLockedValue { unsent in
                defer { unsent = nil }
                return unsent
            }
            if let newest { self.notify("STATUS=\(Self.words(for: newest))") }
        }
    }

    /// Returns the state, whom this program follows, and the reason, in one line.
    static func words(for status: FeedStatus) -> String {
        let word = status.via.map { "\(status.word), via \($0)" } ?? status.word
        let text = status.reason.map { "\(word): \($0)" } ?? word
        // A line end would start another assignment.
        return PrintableText.line(text, limit: 256)
    }

    /// Returns the service that reports readiness, and the stop as soon as it begins.
    ///
    /// - Parameter closing: the other action that must come first in a stop.
    func life(closing: @escaping @Sendable () async -> Void) -> NamedService {
        NamedService("readiness") {
            self.notify("READY=1")
            try? await gracefulShutdown()
            self.notify("STOPPING=1")
            await closing()
        }
    }

    /// Returns the service that sends watchdog messages while all of these loops work.
    func watch(_ loops: [any EventLoop]) -> NamedService {
        NamedService("watchdog") {
            guard self.isThere, let interval = self.watchdogInterval else {
                try? await gracefulShutdown()
                return
            }
            try? await cancelWhenGracefulShutdown {
                while true {
                    // A loop that hangs never completes this, so the messages stop.
                    for loop in loops { try await loop.submit {}.get() }
                    self.notify("WATCHDOG=1")
                    try await Task.sleep(for: interval)
                }
            }
        }
    }
}
