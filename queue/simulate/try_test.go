package simulate_test
import ("testing";"context";"encoding/json";"fmt";"time";"github.com/anteroom-gate/anteroom/queue";"github.com/anteroom-gate/anteroom/queue/simulate")
func TestTry(t *testing.T){
 for _,f:=range []func(*simulate.Config){
  func(*simulate.Config){},
  func(c *simulate.Config){c.Spoofed=true},
  func(c *simulate.Config){c.GiveUp=.5},
  func(c *simulate.Config){c.Spammers=.1;c.Bots=.05},
 }{
 for _,m:=range []queue.Method{queue.FIFO,queue.Random}{
  c:=simulate.Article(); f(&c); c.Room.Method=m
  b:=time.Now()
  r,err:=simulate.Run(context.Background(),c)
  if err!=nil{t.Fatal(err)}
  j,_:=json.Marshal(r)
  fmt.Println(time.Since(b),string(j))
 }}
}
