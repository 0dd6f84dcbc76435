import Glibc
package import Measurements
import NIOConcurrencyHelpers
package import Platform
import Synchronization

/// The live screen on a terminal, drawn by a thread of its own.
///
/// States are published from any thread without ever waiting, and the newest wins: a terminal that stops reading holds
/// up nothing but its own picture. The terminal is restored on every way out: ``stop()``, the key to quit and Ctrl-C, a
/// hang-up, a crash, a deadly signal that the program does not handle itself, and `exit`.
///
/// SIGTERM and SIGINT that the program handles are the program's: it calls ``stop()``. Ctrl-C at the keyboard is a key
/// here and ends ``run()`` with `quitKey`. At most one display runs in a process at a time.
///
/// The feed's loop owns a ``DisplayModel``, and for each batch calls `take` for what the pipeline emits, `observe` for
/// the board's rows, and then once `publish(model.state)`; the same after a status, a gap, or a fired deadline.
package final class TerminalDisplay: Sendable {
    /// Why the display ended.
    package enum ExitCause: Sendable, Equatable {
        /// A person asked for it with a key.
        case quitKey
        case stopped
        /// The terminal is gone.
        case hangup
    }

    struct Mailbox {
        var newest: DisplayState?
        /// What became of the person's wishes, in order.
        var answers: [ScreenAnswer] = []
        var isStopping = false
        /// Bytes for the terminal beside the picture, each call whole: a bell, a notification.
        var calls: [UInt8] = []
        /// Whether the drawing thread waits for news without a limit that would bring it here soon enough.
        var sleeps = false
    }

    let mailbox = NIOLockedValueBox(Mailbox())
    let wake: WakeSignal
    let device: TerminalDevice
    let settings: DisplaySettings
    /// Where what is drawn is measured, and what the latency pane shows.
    let latency: LatencyBook?
    let bindings: KeyBindings
    private let controls: NIOLockedValueBox<DisplayRemote>
    /// See ``restsUntil``.
    private let rest = RestTime()
    /// The most answers that wait while the drawing thread is busy; with more the oldest are left out.
    private static let mostAnswers = 64

    static let mostCallBytes = 4_096

    /// Prepares a display on the terminal behind `output`; nothing is changed there before ``run()``.
    ///
    /// - Throws: ``SystemCallFailure`` when `output` is no terminal.
    package init(
        output: Int32 = STDOUT_FILENO,
        settings: DisplaySettings,
        bindings: KeyBindings = KeyBindings(),
        latency: LatencyBook? = nil
    ) throws(SystemCallFailure) {
        self.latency = latency
        self.bindings = bindings
        self.controls = NIOLockedValueBox(DisplayRemote(without: "this display can only be looked at"))
        self.wake = try WakeSignal()
        self.device = try TerminalDevice(output)
        self.settings = settings
    }

    /// Has the person's wishes carried out by these; before ``run()``.
    package func connect(_ remote: DisplayRemote) { self.controls.withLockedValue { $0 = remote } }

    var remote: DisplayRemote { self.controls.withLockedValue { $0 } }

    /// Takes what became of a wish. From any thread; never waits.
    func tell(_ answer: ScreenAnswer) {
        self.mailbox.withLockedValue { mailbox in
            if mailbox.answers.count >= Self.mostAnswers { mailbox.answers.removeFirst() }
            mailbox.answers.append(answer)
        }
        self.wake.ring()
    }

    /// Before this time no prices are drawn, monotonic ns: what is published earlier is seen no earlier.
    package var restsUntil: Int64 { self.rest.time.load(ordering: .relaxed) }

    func rest(until time: Int64) { self.rest.time.store(time, ordering: .relaxed) }

    /// Shows `state` from the next frame on, in place of any state not yet shown. From any thread; never waits.
    package func publish(_ state: DisplayState) {
        let mustWake = self.mailbox.withLockedValue { mailbox in
            mailbox.newest = state
            defer { mailbox.sleeps = false }
            return mailbox.sleeps
        }
        if mustWake { self.wake.ring() }
    }

    /// Sends the terminal bytes that draw nothing (a bell, a notification), between two frames. From any thread; never
    /// waits. While the terminal does not read, ``mostCallBytes`` of them wait and more are left out.
    package func call(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        self.mailbox.withLockedValue { mailbox in
            if mailbox.calls.count + bytes.count <= Self.mostCallBytes { mailbox.calls += bytes }
        }
        self.wake.ring()
    }

    /// Ends ``run()`` within a second, the terminal restored. From any thread, any number of times, also before `run`.
    package func stop() {
        self.mailbox.withLockedValue { $0.isStopping = true }
        self.wake.ring()
    }

    /// Draws until asked to end; a cancelled task is asked so. Call it once.
    package func run() async -> ExitCause {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                OwnThread.start {
                    var loop = TerminalLoop(display: self)
                    continuation.resume(returning: loop.run())
                }
            }
        } onCancel: {
            self.stop()
        }
    }
}

/// A time that two threads share, monotonic ns. (An object of its own: Swift 6.3 cannot compile an initialiser that throws of
/// a class which holds an atomic itself.)
private final class RestTime: Sendable {
    let time = Atomic<Int64>(.min)
}

extension TerminalDisplay {
    /// Gives the terminal back as it was found, for an end that does not wait for the display; nothing where no screen is
    /// drawn.
    package static func giveBackTerminal() { TerminalRescue.restore() }
}
