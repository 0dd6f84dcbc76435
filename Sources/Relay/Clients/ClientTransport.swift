import NIOCore
import WebSocket

/// The handler below a client's output: a WebSocket, or lines of text.
///
/// It writes whole frames or lines in order, knows how much of them waits, and closes the connection after them. The
/// fan-out does not call it for a client whose slot of ``DirectSlots`` is open.
protocol ClientTransport: AnyObject {
    /// The bytes that wait in the channel.
    var waitingBytes: Int { get }
    /// Returns the state of the layers below the channel's own queue; called only at deadlines.
    var below: (() -> TransportProgress)? { get set }

    /// Writes whole frames or lines; they leave with the next flush.
    ///
    /// - Parameter promise: completes when they have left this program.
    func writeFramed(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?)
    /// Sends what was written since the last flush, and returns whether bytes wait in the channel.
    func flushFramed() -> Bool
    /// Lets bytes bypass the channel while nothing waits in it.
    func sendDirectly(through transport: any DirectTransport)
    /// Allows the fan-out to send past this handler until the direct transport is interrupted; returns whether it may.
    func allowBypass() -> Bool
    /// Writes the rest of bytes whose beginning bypassed this handler; returns whether bytes wait in the channel.
    func writeRest(of bytes: ByteBuffer, behind sent: Int) -> Bool
    /// Replaces the time limit of a closing that has not begun.
    func allowForClosing(_ time: TimeAmount)
}

extension WebSocketHandler: ClientTransport {}
