import Glibc
package import Measurements
import NIOConcurrencyHelpers
package import Platform

/// The live screen on a terminal, drawn by its thread.
///
/// States are published from any thread without blocking, and the newest wins: a terminal that stops reading delays
/// only its own screen. Every end restores the terminal: ``stop()``, the quit key and Ctrl-C, a hang-up, a crash, a
/// deadly signal that the program does not handle itself, and `exit`.
///
/// The program handles SIGTERM and SIGINT by calling ``stop()``. Ctrl-C on the keyboard is a key here, and ends
/// ``run()`` with `quitKey`. A process runs at most one display at a time.
///
/// The feed's loop owns a ``DisplayModel``. For each batch it calls `take` for the pipeline's output, `observe` for the
/// board's rows, and then `publish(model.state)` once. It does the same after a status, a gap, or a deadline.
package final class TerminalDisplay: ThreadedOutput {
    struct Mailbox {
        var newest: DisplayState?
        /// The results of the user's commands, in order.
        var answers: [ScreenAnswer] = []
        /// The newest state of the open room.
        var room: DisplayRoom?
        /// Bytes for the terminal that draw nothing, such as a bell or a notification. Each call is written completely.
        var calls: [UInt8] = []
    }

    let mailbox: OutputMailbox<Mailbox>
    let device: TerminalDevice
    let settings: DisplaySettings
    /// The latencies, which drawing adds to and the latency pane shows.
    let latency: LatencyBook?
    /// The completeness of the tape, for the same pane.
    let completeness: CompletenessMeter?
    let bindings: KeyBindings
    private let controls: NIOLockedValueBox<DisplayRemote>
    let rest = FrameRest()
    /// The largest number of results that wait while the drawing thread is busy; beyond it the oldest are dropped.
    private static let maximumAnswers = 64

    static let maximumCallBytes = 4_096

    /// Prepares a display on the terminal of `output`, and changes nothing there before ``run()``.
    ///
    /// - Throws: ``SystemCallFailure`` when `output` is not a terminal.
    package init(
        output: Int32 = STDOUT_FILENO,
        settings: DisplaySettings,
        bindings: KeyBindings = KeyBindings(),
        latency: LatencyBook? = nil,
        completeness: CompletenessMeter? = nil
    ) throws(SystemCallFailure) {
        self.latency = latency
        self.completeness = completeness
        self.bindings = bindings
        self.controls = NIOLockedValueBox(DisplayRemote(without: "this display can only be looked at"))
        self.mailbox = try OutputMailbox(Mailbox())
        self.device = try TerminalDevice(output, hasLinks: settings.look.hasLinks)
        self.settings = settings
    }

    /// Sets the executors of the user's commands; must be called before ``run()``.
    package func connect(_ remote: DisplayRemote) { self.controls.withLockedValue { $0 = remote } }

    var remote: DisplayRemote { self.controls.withLockedValue { $0 } }

    package var isScreen: Bool { true }

    /// Takes the result of a command. May be called on any thread; never blocks.
    func notify(_ answer: ScreenAnswer) {
        self.mailbox.leave(isUrgent: true) { mailbox in
            if mailbox.answers.count >= Self.maximumAnswers { mailbox.answers.removeFirst() }
            mailbox.answers.append(answer)
        }
    }

    /// Takes the state of the open room, in place of an unshown one. May be called on any thread; never blocks.
    func show(_ room: DisplayRoom) { self.mailbox.leave(isUrgent: true) { $0.room = room } }

    package func publishingTime(now: Int64) -> Int64? { self.rest.publishingTime(now: now) }

    /// Shows `state` from the next frame on, in place of an unshown one. May be called on any thread; never blocks.
    package func publish(_ state: DisplayState) { self.mailbox.leave { $0.newest = state } }

    /// Takes the bytes of an alert for the terminal; the screen shows its text. May be called on any thread; never
    /// blocks.
    package func show(_ item: LineItem) {
        if case .alert(_, let call) = item { self.call(call) }
    }

    /// Sends bytes that draw nothing (a bell, a notification) to the terminal, between two frames. May be called on any
    /// thread; never blocks.
    ///
    /// While the terminal does not read, ``maximumCallBytes`` of them wait, and more are dropped.
    func call(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        self.mailbox.leave(isUrgent: true) { mailbox in
            if mailbox.calls.count + bytes.count <= Self.maximumCallBytes { mailbox.calls += bytes }
        }
    }

    package func stop() { self.mailbox.stop() }

    package func work() -> OutputEnd {
        var loop = TerminalLoop(display: self)
        return loop.run()
    }

    /// Restores the terminal for an end that does not wait for the display; does nothing without a screen.
    package static func giveBackTerminal() { TerminalRescue.restore() }
}
