/// Frames in every form that the venues are known to send, and in some others.
enum VenueSeeds {
    static let frames: [String] = Self.binance + Self.coinbase + Self.kraken

    static let binance: [String] = [
        #"{"stream":"btcusdt@trade","data":{"e":"trade","E":1723161255343,"s":"BTCUSDT","t":3735683259,"p":"61837.63000000","q":"0.02000000","T":1723161255342,"m":true,"M":true}}"#,
        #"{"e":"trade","E":1723161255343,"s":"ETHBTC","t":7,"p":"0.04338200","q":"12.00000000","T":1723161255342,"m":false,"M":true}"#,
        #"{"stream":"牛市usdt@trade","data":{"e":"trade","E":1723161255343,"s":"牛市USDT","t":3735683259,"p":"100.00000000","q":"12345678.12345678","T":1723161255342,"m":false,"M":false}}"#,
        #"{"stream":"btcusdt@trade","data":{"e":"trade","E":1723161255343123,"s":"BTCUSDT","t":3735683259,"p":"61837.63","q":"0.02","b":7038593583,"a":7038593613,"T":1723161255342123,"m":true,"M":true}}"#,
        #"{"e":"trade","E":1723161255343,"T":1723161255342,"s":"BTCUSDT","t":5,"p":"0","q":"0","X":"MARKET","m":true}"#,
        #"{"stream":"nknusdt@aggTrade","data":{"e":"aggTrade","E":1633998523963,"s":"NKNUSDT","a":15683430,"p":"0.35280000","q":"58.00000000","f":19862790,"l":19862790,"T":1633998523963,"m":false,"M":true}}"#,
        #"{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1770123456789}}"#,
        #"{"e":"blockTrade","E":1772506983582,"s":"BNBBTC","t":582,"p":"0.052","q":"5838","T":1772506983321,"m":true}"#,
        #"{"result":null,"id":1}"#, #"{"result":["btcusdt@aggTrade"],"id":3}"#,
        #"{"code":3,"msg":"Invalid JSON: expected value at line 1 column 2"}"#,
        #"{"error":{"code":2,"msg":"Invalid request"}}"#,
    ]

    static let coinbase: [String] = [
        #"{"type":"match","trade_id":1081862675,"maker_order_id":"f07e510f-4edf-469d-b844-4f670f1e93f1","taker_order_id":"e6f50944-3e2a-439e-ae49-308300ba8296","side":"sell","size":"0.00000001","price":"80691.53","product_id":"BTC-USD","sequence":134905860111,"time":"2026-08-25T03:35:57.198335Z"}"#,
        #"{"type":"last_match","trade_id":280232,"maker_order_id":"2a0da34e-61f7-4c36-88e5-c9dd15927b16","taker_order_id":"3c82abaa-c01e-4608-be59-6a1e69742891","side":"buy","size":"985","price":"0.00001305","product_id":"SKL-BTC","sequence":177100030,"time":"2024-02-29T23:59:59.999999Z"}"#,
        #"{"time":"2026-08-25T03:35:57.198335123Z","type":"match","trade_id":18446744073709551614,"size":"1e-7","price":"1.5E2","product_id":"ETH\u002dUSD"}"#,
        #"{"type":"heartbeat","sequence":90,"last_trade_id":20,"product_id":"BTC-USD","time":"2014-11-07T08:19:28.464459Z"}"#,
        #"{"type":"subscriptions","channels":[{"name":"matches","product_ids":["BTC-USD","ETH-USD"]},{"name":"heartbeat","product_ids":["BTC-USD"]}]}"#,
        #"{"type":"error","message":"Failed to subscribe","reason":"LOOM-USDC is delisted"}"#,
    ]

    static let kraken: [String] = [
        #"{"channel":"trade","type":"update","data":[{"symbol":"BTC/USD","side":"buy","price":83744.3,"qty":0.00044780,"ord_type":"limit","trade_id":109116693,"timestamp":"2026-09-25T17:48:26.844359Z"}]}"#,
        #"{"channel":"trade","type":"snapshot","data":[{"symbol":"SOL/USD","side":"sell","price":142,"qty":12345678.5,"ord_type":"market","trade_id":1,"timestamp":"2026-09-25T17:48:26.844359Z"},{"symbol":"DOGE/BTC","side":"sell","price":0.00000199,"qty":1234.5678901,"ord_type":"limit","trade_id":99999999,"timestamp":"2026-09-26T00:00:00.000000Z"}]}"#,
        #"{"data":[{"symbol":"BTC/USD","price":1e2,"qty":4.4e-8,"trade_id":1,"timestamp":"2026-09-25T17:48:26Z"},7,null],"type":"snapshot","channel":"trade"}"#,
        #"{"channel":"trade","type":"snapshot","data":[]}"#, #"{"channel":"heartbeat"}"#,
        #"{"channel":"status","type":"update","data":[{"version":"2.0.10","system":"online","api_version":"v2","connection_id":18125794168470749634,"upcoming_maintenance":[],"emergency":[]}]}"#,
        #"{"method":"subscribe","result":{"channel":"trade","snapshot":false,"symbol":"BTC/USD"},"success":true,"time_in":"2026-09-25T17:48:24.745996Z","time_out":"2026-09-25T17:48:24.746032Z"}"#,
        #"{"method":"pong","req_id":42,"time_in":"2023-09-25T09:05:00.123456Z","time_out":"2023-09-25T09:05:00.123500Z"}"#,
        #"{"error":"Currency pair not supported XBT/USD","method":"subscribe","success":false,"symbol":"XBT/USD","time_in":"2026-09-25T17:48:54.701041Z","time_out":"2026-09-25T17:48:54.701062Z"}"#,
    ]
}
