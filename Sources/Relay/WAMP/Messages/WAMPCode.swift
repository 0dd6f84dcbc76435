/// The codes of WAMP's messages (WAMP, 3.5).
enum WAMPCode: Int64 {
    case hello = 1
    case welcome = 2
    case abort = 3
    case challenge = 4
    case authenticate = 5
    case goodbye = 6
    case error = 8
    case publish = 16
    case published = 17
    case subscribe = 32
    case subscribed = 33
    case unsubscribe = 34
    case unsubscribed = 35
    case event = 36
    case call = 48
    case cancel = 49
    case result = 50
    case register = 64
    case registered = 65
    case unregister = 66
    case unregistered = 67
    case invocation = 68
    case interrupt = 69
    case yield = 70
}
